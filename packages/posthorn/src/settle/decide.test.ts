import { expect, test } from "vitest";
import { failed, responded } from "../../../../tests/support/samples/outcomes.ts";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import type { AttemptOutcome, ClaimedDelivery, Decision, RetryOn, RetryPolicy } from "../model.ts";
import { dead, decide, delivered, later, retryAfter } from "./decide.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;
const POLICY: RetryPolicy = { kind: "gaps", gapsMs: [1_000, 10_000] };
const AGED = { retryPolicy: { ...POLICY, maxAgeMs: 60_000 } };

interface Situation {
  readonly failures?: number;
  readonly ageMs?: number;
  readonly retryPolicy?: RetryPolicy;
  readonly retryOn?: RetryOn;
}

const claimed = (failures = 0, ageMs = 0) =>
  ({ attempts: failures, failures, scheduleStartedMs: NOW - ageMs }) as ClaimedDelivery;

function decided(
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  { retryPolicy = POLICY, retryOn = "transient" }: Pick<Situation, "retryPolicy" | "retryOn"> = {},
): Decision {
  return decide(delivery, outcome, WEBHOOK.interpret(outcome, retryOn), { retryPolicy }, () => 0.5, NOW);
}

test.each<[what: string, outcome: AttemptOutcome, Decision, situation?: Situation]>([
  ["a 200 is delivered", responded(200), delivered()],
  ["a 204 on the last attempt is delivered", responded(204), delivered(), { failures: 2 }],
  ["a first 500 is retried after the first gap", responded(500), retryAfter(1_000)],
  ["a second 500 is retried after the second gap", responded(500), retryAfter(10_000), { failures: 1 }],
  ["a third 500 exhausts two gaps", responded(500), dead("attempts_exhausted"), { failures: 2 }],
  ["a timeout is retried", failed("timeout"), retryAfter(1_000)],
  ["a TLS error is retried", failed("tls_error"), retryAfter(1_000)],
  ["a 400 is dead at once", responded(400), dead("rejected")],
  ["a 302 is dead at once", responded(302), dead("redirect")],
  ["a 410 is gone", responded(410), dead("gone")],
  ["a 400 is retried if every status is", responded(400), retryAfter(1_000), { retryOn: "every" }],
  ["a blocked address is dead", failed("blocked_address"), dead("blocked_address")],
  ["an invalid request is dead", failed("invalid_request"), dead("invalid_request")],
  ["429 waits for its Retry-After", responded(429, "120"), retryAfter(120_000)],
  ["503 waits for its Retry-After", responded(503, "Thu, 01 Jan 2026 00:01:00 GMT"), retryAfter(60_000)],
  ["503 waits at least as long as its schedule", responded(503, "0"), retryAfter(1_000)],
  ["429 waits at most a day", responded(429, "1000000000"), retryAfter(86_400_000)],
  ["409 waits for its Retry-After without a failure", responded(409, "5"), later(5_000)],
  [
    "409 waits for its Retry-After after the last attempt too, and if every status is retried",
    responded(409, "5"),
    later(5_000),
    { failures: 2, retryOn: "every" },
  ],
  ["409 waits at least a second", responded(409, "0"), later(1_000)],
  ["409 waits longer after each attempt", responded(409, "0"), later(16_000), { failures: 4 }],
  ["409 with Retry-After: 0 waits at most a minute", responded(409, "0"), later(60_000), { failures: 2_000 }],
  ["409 may postpone for a day", responded(409, "3600"), later(HOUR), { ageMs: 23 * HOUR - 5 }],
  ["409 fails after a day", responded(409, "3600"), retryAfter(HOUR), { ageMs: 23 * HOUR }],
  ["409 may postpone up to the maximum age", responded(409, "30"), later(30_000), { ageMs: 29_995, ...AGED }],
  ["409 is dead beyond the maximum age", responded(409, "30"), dead("too_old"), { ageMs: 29_996, ...AGED }],
  ["the Retry-After of a 500 is ignored", responded(500, "120"), retryAfter(1_000)],
  ["an invalid Retry-After is ignored", responded(503, "Infinity"), retryAfter(1_000)],
  ["Retry-After adds no attempt", responded(503, "120"), dead("attempts_exhausted"), { failures: 2 }],
  ["a delivery becomes too old", responded(500), dead("too_old"), { ageMs: 59_500, ...AGED }],
  ["the attempt counts in the age", responded(500), dead("too_old"), { ageMs: 58_996, ...AGED }],
])("%s", (_what, outcome, expected, { failures, ageMs = 0, ...changed } = {}) => {
  const delivery = claimed(failures, ageMs + outcome.durationMs);
  expect(decided(delivery, outcome, changed)).toEqual(expected);
});

test("only 410 disables the endpoint", () => {
  expect(decided(claimed(), responded(410))).toMatchObject({ disableEndpoint: true });
  expect(decided(claimed(), responded(404))).toMatchObject({ disableEndpoint: false });
});
