import { describe, expect, it } from "vitest";
import {
  type AttemptError,
  type AttemptOutcome,
  NO_PHASES,
  type OutcomeClass,
  type RetryOn,
} from "../../model.ts";
import { classify } from "./classify.ts";

function answered(statusCode: number): AttemptOutcome {
  return {
    kind: "answered",
    statusCode,
    responseBody: new Uint8Array(),
    retryAfter: null,
    durationMs: 1,
    phases: NO_PHASES,
  };
}

function failed(error: AttemptError): AttemptOutcome {
  return { kind: "failed", error, detail: "", durationMs: 1, phases: NO_PHASES };
}

// [first status, last status, transient, every]; together they cover 100–999.
const STATUSES: readonly (readonly [number, number, OutcomeClass, OutcomeClass])[] = [
  [100, 199, "transient", "transient"],
  [200, 299, "delivered", "delivered"],
  [300, 399, "permanent", "transient"],
  [400, 407, "permanent", "transient"],
  [408, 408, "transient", "transient"],
  [409, 409, "permanent", "transient"],
  [410, 410, "gone", "gone"],
  [411, 428, "permanent", "transient"],
  [429, 429, "transient", "transient"],
  [430, 499, "permanent", "transient"],
  [500, 999, "transient", "transient"],
];

const ERRORS: Readonly<Record<AttemptError, OutcomeClass>> = {
  timeout: "transient",
  dns_error: "transient",
  connection_refused: "transient",
  connection_reset: "transient",
  connection_error: "transient",
  tls_error: "transient",
  bad_response: "transient",
  headers_too_large: "transient",
  unknown: "transient",
  not_signed: "transient",
  lease_ended: "permanent",
  blocked_address: "permanent",
  invalid_request: "permanent",
};

describe("classify", () => {
  it("covers every status from 100 to 999 in this table", () => {
    expect(STATUSES.reduce((next, [first, last]) => (first === next ? last + 1 : Number.NaN), 100)).toBe(
      1_000,
    );
  });

  it.each(STATUSES)(
    "calls %i to %i %s, and %s when everything is retried",
    (first, last, transient, every) => {
      for (let status = first; status <= last; status += 1) {
        expect(classify(answered(status), "transient"), String(status)).toBe(transient);
        expect(classify(answered(status), "every"), String(status)).toBe(every);
      }
    },
  );

  it.each(Object.entries(ERRORS))("calls %s %s, whatever is retried", (error, expected) => {
    for (const retryOn of ["transient", "every"] satisfies RetryOn[]) {
      expect(classify(failed(error as AttemptError), retryOn)).toBe(expected);
    }
  });
});
