import { describe, expect, it } from "vitest";
import { failed, responded } from "../../../../../tests/support/samples/outcomes.ts";
import type { AttemptError, OutcomeClass, RetryOn } from "../../model.ts";
import { classify } from "./http-destination.ts";

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

describe("classify", () => {
  it.each(STATUSES)(
    "classifies %i to %i as %s, and as %s if everything is retried",
    (first, last, transient, every) => {
      for (let status = first; status <= last; status += 1) {
        expect(classify(responded(status), "transient"), String(status)).toBe(transient);
        expect(classify(responded(status), "every"), String(status)).toBe(every);
      }
    },
  );

  it("classifies 409 with Retry-After as later, regardless of what is retried", () => {
    for (const retryOn of ["transient", "every"] satisfies RetryOn[]) {
      expect(classify(responded(409, "1"), retryOn)).toBe("later");
    }
  });

  it.each<[AttemptError, OutcomeClass]>([
    ["timeout", "transient"],
    ["unknown", "transient"],
    ["not_signed", "transient"],
    ["lease_expired", "permanent"],
    ["blocked_address", "permanent"],
    ["invalid_request", "permanent"],
  ])("classifies %s as %s, regardless of what is retried", (error, expected) => {
    for (const retryOn of ["transient", "every"] satisfies RetryOn[]) {
      expect(classify(failed(error), retryOn)).toBe(expected);
    }
  });
});
