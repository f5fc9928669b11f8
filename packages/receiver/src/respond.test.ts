import { expect, test } from "vitest";
import { type Outcome, responseTo, responseToBatch } from "./respond.ts";

const member = (outcome: Outcome, at: number) => ({ id: String(at), outcome });
const batch = (...outcomes: Outcome[]) => responseToBatch(outcomes.map(member), anySender);
/** A sender that may treat 409 as final. */
const anySender = {};

test.each([
  [0, "1"],
  [1_000, "1"],
  [1_001, "2"],
  [60_000, "60"],
])("%i ms are %s whole seconds, at least one", (retryAfterMs, seconds) => {
  const { headers } = responseTo({ kind: "running", retryAfterMs }, anySender);
  expect(headers["retry-after"]).toBe(seconds);
});

test("retry_later is 409 for senders that support it", () => {
  const outcome: Outcome = { kind: "retry_later", retryAfterMs: 90_000 };
  const later = { status: 409, headers: { "retry-after": "90" } };
  expect(responseTo(outcome, { supportsRetryLater: true })).toMatchObject(later);
  expect(responseToBatch([member(outcome, 0)], { supportsRetryLater: true })).toMatchObject(later);
  const unavailable: Outcome = { kind: "unavailable", retryAfterMs: 10_000 };
  expect(responseTo(unavailable, { supportsRetryLater: true }).status).toBe(503);
});

test("a batch is acknowledged only if every member was accepted", () => {
  const running: Outcome = { kind: "running", retryAfterMs: 5_000 };
  expect(batch().status).toBe(200);
  expect(batch({ kind: "done" }, { kind: "duplicate" }).headers).not.toHaveProperty("posthorn-duplicate");
  expect(batch({ kind: "duplicate" }, { kind: "duplicate" }).headers).toHaveProperty("posthorn-duplicate");
  expect(batch({ kind: "duplicate" }, { kind: "accepted" }).status).toBe(202);
  expect(batch({ kind: "done" }, running, { kind: "duplicate" })).toMatchObject({
    status: 409,
    headers: { "retry-after": "5" },
  });
  expect(batch(running, { kind: "failed" }).status).toBe(500);
});

test("in a batch a failure that must be retried precedes a permanent one", () => {
  expect(batch({ kind: "other_body" }, { kind: "failed" }).status).toBe(500);
  expect(batch({ kind: "gone" }, { kind: "failed" }).status).toBe(500);
  expect(batch({ kind: "failed" }, { kind: "gone" }, { kind: "done" }).status).toBe(500);
  expect(batch({ kind: "gone" }, { kind: "done" }).status).toBe(410);
  expect(batch({ kind: "other_body" }, { kind: "done" }).status).toBe(422);
});
