// What each response means for a delivery, asked of the functions that decide it.
import { classify, RECEIVER_ERRORS } from "../../destinations/http/http-destination.ts";
import {
  type AttemptError,
  type AttemptOutcome,
  NO_PHASES,
  notSent,
  type OutcomeClass,
  type RetryOn,
} from "../../model.ts";
import { decide } from "../../settle/decide.ts";
import { healthSignal } from "../../settle/endpoint-health.ts";

/** `disabled`: dead, and the endpoint is disabled. `postponed`: retried without counting as a failure. */
export type ResponseResult = "delivered" | "retried" | "dead" | "disabled" | "postponed";

interface Range {
  from: number;
  to: number;
}

export interface ContractResponse {
  /** Ranges of HTTP statuses, inclusive. */
  readonly statuses: readonly Readonly<Range>[];
  readonly result: ResponseResult;
  /** `required`: the row applies only to responses with Retry-After. */
  readonly retryAfter: "ignored" | "honored" | "required";
  /** Nothing else is sent to the endpoint for a while either. */
  readonly pausesEndpoint: boolean;
}

export interface ContractError {
  readonly errors: readonly AttemptError[];
  readonly result: ResponseResult;
}

const FIRST = 200;
const LAST = 599;
const ASKED_SECONDS = 3_600;

export function responsesOf(retryOn: RetryOn): ContractResponse[] {
  const rows = new Map<string, Omit<ContractResponse, "statuses"> & { statuses: Range[] }>();
  for (let status = FIRST; status <= LAST; status += 1) {
    for (const { key, row } of meaningsOf(status, retryOn)) {
      const found = rows.get(key) ?? { ...row, statuses: [] };
      rows.set(key, found);
      const last = found.statuses.at(-1);
      if (last?.to === status - 1) last.to = status;
      else found.statuses.push({ from: status, to: status });
    }
  }
  return [...rows.values()];
}

export function errorsOf(retryOn: RetryOn): ContractError[] {
  const results = new Map<ResponseResult, AttemptError[]>();
  for (const error of RECEIVER_ERRORS) {
    const result = RESULTS[classify(notSent({ error, detail: "" }), retryOn)];
    results.set(result, [...(results.get(result) ?? []), error]);
  }
  return [...results].map(([result, errors]) => ({ errors, result }));
}

/** Two if Retry-After changes the meaning. */
function meaningsOf(status: number, retryOn: RetryOn) {
  const plain = responded(status, null);
  const asking = responded(status, String(ASKED_SECONDS));
  const [plainClass, askingClass] = [classify(plain, retryOn), classify(asking, retryOn)];
  const isHonored = delayOf(asking, askingClass) >= ASKED_SECONDS * 1_000;
  const isChanged = plainClass !== askingClass;
  const meaning = (outcome: AttemptOutcome, of: OutcomeClass, retryAfter: ContractResponse["retryAfter"]) => {
    const row = { result: RESULTS[of], retryAfter, pausesEndpoint: isPause(outcome, of) };
    return { key: Object.values(row).join(" "), row };
  };
  return [
    meaning(plain, plainClass, isHonored && !isChanged ? "honored" : "ignored"),
    ...(isChanged ? [meaning(asking, askingClass, "required")] : []),
  ];
}

const RESULTS: Readonly<Record<OutcomeClass, ResponseResult>> = {
  delivered: "delivered",
  transient: "retried",
  permanent: "dead",
  gone: "disabled",
  later: "postponed",
};

function responded(statusCode: number, retryAfter: string | null): AttemptOutcome {
  const responseBody = new Uint8Array();
  return { kind: "responded", statusCode, responseBody, retryAfter, durationMs: 0, phases: NO_PHASES };
}

/** The time until the next attempt of a policy whose own waits are short; 0 if there is none. */
function delayOf(outcome: AttemptOutcome, outcomeClass: OutcomeClass): number {
  const delivery = { failures: 0, attempts: 1, scheduleStartedMs: 0 } as Parameters<typeof decide>[0];
  const target = { retryPolicy: { kind: "gaps", gapsMs: [1] } } as const;
  const decision = decide(delivery, outcome, outcomeClass, target, () => 1, 0);
  return decision.kind === "retry" ? decision.delayMs : 0;
}

function isPause(outcome: AttemptOutcome, outcomeClass: OutcomeClass): boolean {
  const signal = healthSignal(outcome, outcomeClass, 0);
  return signal.kind === "throttled" || (signal.kind === "failure" && signal.isBusy);
}
