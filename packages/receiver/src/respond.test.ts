import { expect, test } from "vitest";
import { contentsOf, OUTCOME_STATUS, type Outcome, responseTo, responseToBatch } from "./respond.ts";

const member = (outcome: Outcome, at: number) => ({ id: String(at), outcome });
const batch = (...outcomes: Outcome[]) => responseToBatch(outcomes.map(member), anySender);
const contents = contentsOf({});
/** A sender that may treat 4xx as final. */
const anySender = {};
const posthornSender = { retryLaterStatus: 409 };

test.each([
  [0, "1"],
  [1_000, "1"],
  [1_001, "2"],
  [60_000, "60"],
])("%i ms are %s whole seconds, at least one", (retryAfterMs, seconds) => {
  const { headers } = responseTo({ kind: "running", retryAfterMs }, anySender, contents);
  expect(headers["retry-after"]).toBe(seconds);
});

test.each(["running", "gap", "retry_later"] as const)(
  "%s is 503, or the status that means later to the sender",
  (kind) => {
    const outcome: Outcome = { kind, retryAfterMs: 90_000 };
    const headers = { "retry-after": "90" };
    for (const [sender, status] of [
      [anySender, 503],
      [posthornSender, 409],
    ] as const) {
      expect(responseTo(outcome, sender, contents)).toMatchObject({ status, headers });
      expect(responseToBatch([member(outcome, 0)], sender)).toMatchObject({ status, headers });
    }
  },
);

test("an unavailable store is 503 for every sender", () => {
  const unavailable: Outcome = { kind: "unavailable", retryAfterMs: 10_000 };
  expect(responseTo(unavailable, posthornSender, contents).status).toBe(503);
});

test("a configured body changes neither the status nor the other headers", () => {
  const kinds = Object.keys(OUTCOME_STATUS) as Outcome["kind"][];
  const configured = contentsOf(Object.fromEntries(kinds.map((kind) => [kind, { code: kind }])));
  for (const kind of kinds) {
    const outcome = { kind, retryAfterMs: 2_000 } as Outcome;
    const usual = responseTo(outcome, anySender, contents);
    expect(usual.body).toBe(`{"status":"${kind}"}`);
    const own = responseTo(outcome, anySender, configured);
    expect(own).toEqual({ ...usual, body: `{"code":"${kind}"}` });
  }
});

test("a body of text is sent as it is, and an empty one without a type", () => {
  const configured = contentsOf({ done: "OK", duplicate: "" });
  expect(responseTo({ kind: "done" }, anySender, configured)).toEqual({
    status: 200,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: "OK",
  });
  expect(responseTo({ kind: "duplicate" }, anySender, configured)).toEqual({
    status: 200,
    headers: { "posthorn-duplicate": "true" },
    body: "",
  });
});

test("a batch is acknowledged only if every member was accepted", () => {
  const running: Outcome = { kind: "running", retryAfterMs: 5_000 };
  expect(batch().status).toBe(200);
  expect(batch({ kind: "done" }, { kind: "duplicate" }).headers).not.toHaveProperty("posthorn-duplicate");
  expect(batch({ kind: "duplicate" }, { kind: "duplicate" }).headers).toHaveProperty("posthorn-duplicate");
  expect(batch({ kind: "duplicate" }, { kind: "accepted" }).status).toBe(202);
  expect(batch({ kind: "done" }, running, { kind: "duplicate" })).toMatchObject({
    status: 503,
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
