import { describe, expect, it } from "vitest";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import {
  type AttemptError,
  type AttemptOutcome,
  type ClaimedDelivery,
  type Decision,
  NO_PHASES,
  type RetryOn,
  type RetryPolicy,
} from "../model.ts";
import { dead, decide, delivered, later, retryAfter } from "./decide.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const POLICY: RetryPolicy = { kind: "gaps", gapsMs: [1_000, 10_000] };

interface Case {
  readonly outcome: AttemptOutcome;
  readonly failures?: number;
  readonly ageMs?: number;
  readonly policy?: RetryPolicy;
  readonly retryOn?: RetryOn;
}

function decideOn({
  outcome,
  failures = 0,
  ageMs = 0,
  policy = POLICY,
  retryOn = "transient",
}: Case): Decision {
  return decide(
    claimed(failures, ageMs + outcome.durationMs),
    outcome,
    { destination: WEBHOOK, retryPolicy: policy, retryOn },
    () => 0.5,
    NOW,
  );
}

function claimed(failures: number, ageMs: number): ClaimedDelivery {
  return {
    id: "0190f1a2-0000-7000-8000-000000000002",
    event: {
      id: "0190f1a2-0000-7000-8000-000000000001",
      tenant: "acme",
      type: "order.paid",
      apiVersion: "1",
      subject: null,
      sequence: null,
      payload: new TextEncoder().encode("{}"),
      createdAt: new Date(NOW),
    },
    endpointId: "0190f1a2-0000-7000-8000-000000000003",
    attempts: failures,
    failures,
    scheduleStartedMs: NOW - ageMs,
    trigger: "event",
    isOrdered: false,
  };
}

function answered(statusCode: number, retryAfterHeader: string | null = null): AttemptOutcome {
  return {
    kind: "answered",
    statusCode,
    responseBody: new Uint8Array(),
    retryAfter: retryAfterHeader,
    durationMs: 5,
    phases: NO_PHASES,
  };
}

function failed(error: AttemptError): AttemptOutcome {
  return { kind: "failed", error, detail: "", durationMs: 5, phases: NO_PHASES };
}

describe("decide", () => {
  it.each<[string, Case, Decision]>([
    ["a 200 is delivered", { outcome: answered(200) }, delivered()],
    ["a 204 on the last try is delivered", { outcome: answered(204), failures: 2 }, delivered()],
    ["a first 500 is retried after the first gap", { outcome: answered(500) }, retryAfter(1_000)],
    [
      "a second 500 is retried after the second gap",
      { outcome: answered(500), failures: 1 },
      retryAfter(10_000),
    ],
    ["a third 500 exhausts two gaps", { outcome: answered(500), failures: 2 }, dead("attempts_exhausted")],
    ["a timeout is retried", { outcome: failed("timeout") }, retryAfter(1_000)],
    ["a TLS error is retried", { outcome: failed("tls_error") }, retryAfter(1_000)],
    ["a 400 is dead at once", { outcome: answered(400) }, dead("rejected")],
    ["a 302 is dead at once", { outcome: answered(302) }, dead("redirect")],
    ["a 410 is gone", { outcome: answered(410) }, dead("gone")],
    [
      "a 400 is retried when every answer is",
      { outcome: answered(400), retryOn: "every" },
      retryAfter(1_000),
    ],
    [
      "a 302 is retried when every answer is",
      { outcome: answered(302), retryOn: "every" },
      retryAfter(1_000),
    ],
    ["a 410 is gone even then", { outcome: answered(410), retryOn: "every" }, dead("gone")],
    ["a blocked address is dead", { outcome: failed("blocked_address") }, dead("blocked_address")],
    [
      "and stays so when every answer is retried",
      { outcome: failed("blocked_address"), retryOn: "every" },
      dead("blocked_address"),
    ],
    ["an impossible request is dead", { outcome: failed("invalid_request") }, dead("invalid_request")],
    ["429 waits as long as asked", { outcome: answered(429, "120") }, retryAfter(120_000)],
    [
      "503 waits as long as asked",
      { outcome: answered(503, "Thu, 01 Jan 2026 00:01:00 GMT") },
      retryAfter(60_000),
    ],
    ["but never shorter than its schedule", { outcome: answered(503, "0") }, retryAfter(1_000)],
    ["nor longer than a day", { outcome: answered(429, "1000000000") }, retryAfter(86_400_000)],
    ["409 comes back when it says", { outcome: answered(409, "5") }, later(5_000)],
    ["but not at once", { outcome: answered(409, "0") }, later(1_000)],
    ["and later each time", { outcome: answered(409, "0"), failures: 4 }, later(16_000)],
    ["up to a minute", { outcome: answered(409, "0"), failures: 2_000 }, later(60_000)],
    ["500 may ask for nothing", { outcome: answered(500, "120") }, retryAfter(1_000)],
    ["junk is ignored", { outcome: answered(503, "Infinity") }, retryAfter(1_000)],
    [
      "asking does not buy another try",
      { outcome: answered(503, "120"), failures: 2 },
      dead("attempts_exhausted"),
    ],
    [
      "a delivery may grow too old",
      { outcome: answered(500), ageMs: 59_500, policy: { ...POLICY, maxAgeMs: 60_000 } },
      dead("too_old"),
    ],
    [
      "the attempt itself counts into its age",
      { outcome: answered(500), ageMs: 58_996, policy: { ...POLICY, maxAgeMs: 60_000 } },
      dead("too_old"),
    ],
  ])("%s", (_name, input, expected) => {
    expect(decideOn(input)).toEqual(expected);
  });

  it("disables the endpoint on 410 and on nothing else", () => {
    expect(decideOn({ outcome: answered(410) })).toMatchObject({ disableEndpoint: true });
    expect(decideOn({ outcome: answered(404) })).toMatchObject({ disableEndpoint: false });
  });

  it("spreads retries by ten per cent either way by default", () => {
    const target = { destination: WEBHOOK, retryPolicy: POLICY, retryOn: "transient" } as const;
    for (let i = 0; i < 100; i += 1) {
      const decision = decide(claimed(0, 0), answered(500), target);
      expect(decision.kind === "retry" ? Math.abs(decision.delayMs - 1_000) : Number.NaN).toBeLessThanOrEqual(
        100,
      );
    }
  });
});
