// Statuses by outcome, whole seconds, and who speaks for a batch.
import { expect, test } from "vitest";
import { type Outcome, responseTo, responseToBatch } from "./respond.ts";

const member = (outcome: Outcome, at: number) => ({ id: String(at), outcome });
const batch = (...outcomes: Outcome[]) => responseToBatch(outcomes.map(member), anybody);
/** Who may take a 409 for final. */
const anybody = {};

test.each<[Outcome["kind"], number]>([
  ["done", 200],
  ["duplicate", 200],
  ["stale", 200],
  ["ignored", 200],
  ["dead", 200],
  ["accepted", 202],
  ["other_body", 422],
  ["failed", 500],
  ["gone", 410],
])("%s is %i", (kind, status) => {
  const answer = responseTo({ kind } as Outcome, anybody);
  expect(answer).toMatchObject({ status, body: JSON.stringify({ status: kind }) });
  expect(answer.headers["posthorn-duplicate"]).toBe(kind === "duplicate" ? "true" : undefined);
});

test.each<[kind: string, status: number]>([
  ["running", 409],
  ["gap", 409],
  ["retry_later", 503],
  ["unavailable", 503],
])("%s is %i with whole seconds, at least one", (kind, status) => {
  for (const [retryAfterMs, seconds] of [
    [0, "1"],
    [1, "1"],
    [1_000, "1"],
    [1_001, "2"],
    [60_000, "60"],
  ] as const) {
    expect(responseTo({ kind, retryAfterMs } as Outcome, anybody)).toMatchObject({
      status,
      headers: { "retry-after": seconds },
    });
  }
});

test("a handler's wish for time is 409 to who knows that for later, and all else is as to anybody", () => {
  const wish: Outcome = { kind: "retry_later", retryAfterMs: 90_000 };
  const later = { status: 409, headers: { "retry-after": "90" } };
  expect(responseTo(wish, { supportsRetryLater: true })).toMatchObject(later);
  expect(responseToBatch([member(wish, 0)], { supportsRetryLater: true })).toMatchObject(later);
  const away: Outcome = { kind: "unavailable", retryAfterMs: 10_000 };
  expect(responseTo(away, { supportsRetryLater: true }).status).toBe(503);
});

test("a batch is acknowledged only when every member is ours", () => {
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

test("what must be sent again comes before what never succeeds", () => {
  expect(batch({ kind: "other_body" }, { kind: "failed" }).status).toBe(500);
  expect(batch({ kind: "gone" }, { kind: "failed" }).status).toBe(500);
  expect(batch({ kind: "failed" }, { kind: "gone" }, { kind: "done" }).status).toBe(500);
  expect(batch({ kind: "gone" }, { kind: "done" }).status).toBe(410);
  expect(batch({ kind: "other_body" }, { kind: "done" }).status).toBe(422);
});
