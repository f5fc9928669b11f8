import { expect, test } from "vitest";
import { EndpointGone, PermanentFailure, RetryLater } from "../errors.ts";
import { backoff, decideFailure, type FailurePolicy } from "./decide-failure.ts";

const bySender: FailurePolicy = { afterFailures: null, delayMs: null };
const byInbox: FailurePolicy = { afterFailures: 10, delayMs: (failures) => failures * 100 };
const fail = () => {
  throw new Error("no");
};
const next = (error: unknown, failures: number, policy: FailurePolicy) =>
  decideFailure(error, failures, policy).failure.next;

test("without a limit the sender retries, however often it failed", () => {
  expect(decideFailure(new Error("shop closed"), 1_000_000, bySender)).toEqual({
    failure: { error: "Error: shop closed", next: { kind: "release" } },
    outcome: { kind: "failed" },
  });
});

test("the inbox waits longer after each failure, and the last is dead", () => {
  expect(next(new Error("no"), 0, byInbox)).toEqual({ kind: "retry", afterMs: 100 });
  expect(next(new Error("no"), 8, byInbox)).toEqual({ kind: "retry", afterMs: 900 });
  expect(next(new Error("no"), 9, byInbox)).toEqual({ kind: "dead" });
});

test("a permanent failure is dead at once, and acknowledged", () => {
  for (const policy of [bySender, byInbox]) {
    const decision = decideFailure(new PermanentFailure("no such product"), 0, policy);
    expect(decision).toMatchObject({ failure: { next: { kind: "dead" } }, outcome: { kind: "dead" } });
  }
});

test("RetryLater sets the delay, by the sender or in the inbox", () => {
  const error = new RetryLater("shop closed", { afterMs: 5_000 });
  expect(decideFailure(error, 0, bySender)).toMatchObject({
    failure: { next: { kind: "release" } },
    outcome: { kind: "retry_later", retryAfterMs: 5_000 },
  });
  expect(next(error, 0, byInbox)).toEqual({ kind: "retry", afterMs: 5_000 });
  expect(new RetryLater("later").afterMs).toBe(60_000);
});

test.each([0, 30 * 86_400_000])("RetryLater accepts %i ms", (afterMs) => {
  expect(new RetryLater("later", { afterMs }).afterMs).toBe(afterMs);
});

test.each([-1, 30 * 86_400_000 + 1, Number.NaN])("RetryLater rejects %d ms", (afterMs) => {
  expect(() => new RetryLater("later", { afterMs })).toThrow(RangeError);
});

test("EndpointGone is 410 for a sender and a dead letter from the inbox", () => {
  expect(decideFailure(new EndpointGone("closed for good"), 0, bySender).outcome).toEqual({ kind: "gone" });
  expect(next(new EndpointGone("closed for good"), 0, byInbox)).toEqual({ kind: "dead" });
});

test("an error is one line of at most a thousand characters, whatever was thrown", () => {
  const line = (error: unknown) => decideFailure(error, 0, bySender).failure.error;
  expect(line(new TypeError("a\n  b"))).toBe("TypeError: a b");
  expect(line("text")).toBe("text");
  expect(line(undefined)).toBe("undefined");
  expect(line(new Error("x".repeat(2_000)))).toHaveLength(1_000);
});

test("waits double up to the maximum, a random half less", () => {
  const delayMs = backoff({ firstDelayMs: 1_000, maxDelayMs: 60_000 });
  for (const [failures, fullMs] of [
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [2_000, 60_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => delayMs(failures));
    expect(Math.max(...waits)).toBeLessThanOrEqual(fullMs);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(fullMs / 2);
    expect(new Set(waits).size).toBeGreaterThan(20);
  }
});

test.each<[what: string, thrown: unknown]>([
  ["has no prototype", Object.create(null)],
  ["throws when its message is read", Object.defineProperty(new Error(), "message", { get: () => fail() })],
  ["throws when it is written", { toString: () => fail() }],
])("a thrown value that %s is an ordinary failure", (_, thrown) => {
  expect(decideFailure(thrown, 0, bySender)).toMatchObject({
    failure: { error: expect.stringContaining("cannot be written"), next: { kind: "release" } },
    outcome: { kind: "failed" },
  });
});
