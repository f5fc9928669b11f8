// Which responses grant permission: headers decide, regardless of the status.
import { expect, test } from "vitest";
import { RateBucket, rateOf } from "../../delivery/rate-bucket.ts";
import { type AttemptOutcome, NO_PHASES } from "../../model.ts";
import { decideHandshake } from "./decide-handshake.ts";

const asked = { origin: "hooks.example.com", rate: 120, attempts: 1, hasCallback: false };

function answered(headers: Record<string, string>, statusCode = 200): AttemptOutcome {
  const rest = { responseBody: new Uint8Array(), retryAfter: null, durationMs: 1, phases: NO_PHASES };
  return { kind: "answered", statusCode, answer: { headers, isWhole: true }, ...rest };
}

test.each([
  [{ "webhook-allowed-origin": "hooks.example.com", "webhook-allowed-rate": "100" }, 200, 100],
  [{ "webhook-allowed-origin": "Hooks.Example.com", "webhook-allowed-rate": "*" }, 200, null],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "1" }, 405, 1],
  [{ "webhook-allowed-origin": "*" }, 500, 120],
  [{ "webhook-allowed-origin": "hooks.example.com " }, 200, 120],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "99999999999999999999" }, 200, 999_999_999],
])("granted by %j with status %i", (headers, status, allowedRate) => {
  const granted = { state: "granted", allowedRate, detail: null, retryInMs: null };
  expect(decideHandshake(answered(headers, status), asked)).toEqual(granted);
});

test.each([
  [{}, 200, /HTTP 200 without WebHook-Allowed-Origin/],
  [{ "webhook-allowed-rate": "*" }, 204, /without WebHook-Allowed-Origin/],
  [{ "webhook-allowed-origin": "other.example" }, 200, /a different origin than hooks.example.com/],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "many" }, 200, /neither a number/],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "0" }, 200, /neither a number/],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "-1" }, 200, /neither a number/],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "0.5" }, 200, /neither a number/],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "10, 20" }, 200, /neither a number/],
  [{ "webhook-allowed-origin": "hooks.example.com, *" }, 200, /a different origin/],
])("denied by %j with status %i", (headers, status, words) => {
  const decision = decideHandshake(answered(headers as Record<string, string>, status), asked);
  expect(decision).toMatchObject({ state: "denied", retryInMs: null });
  expect(decision.detail).toMatch(words);
});

test("a silent endpoint with a callback URL is waited for", () => {
  expect(decideHandshake(answered({}), { ...asked, hasCallback: true })).toMatchObject({ state: "waiting" });
});

test("an unreachable endpoint is asked seven times in about a day, and then counts as refusing", () => {
  const failed = {
    kind: "failed",
    error: "timeout",
    detail: "no answer",
    durationMs: 1,
    phases: NO_PHASES,
  } as const;
  const gaps = [1, 2, 3, 4, 5, 6].map((attempts) =>
    decideHandshake(failed, { ...asked, attempts }, () => 0.5),
  );
  expect(gaps.every(({ state }) => state === "asking")).toBe(true);
  expect(gaps.map(({ retryInMs }) => (retryInMs ?? 0) / 60_000)).toEqual([1, 5, 15, 60, 360, 1440]);
  expect(decideHandshake(failed, { ...asked, attempts: 7 })).toMatchObject({
    state: "denied",
    retryInMs: null,
  });
});

test("a rate per minute holds in every minute, even below one per second and with late arrivals", () => {
  for (const allowed of [1, 7, 60, 90]) {
    const rate = rateOf({ rateLimit: null, allowedPerMinute: allowed });
    const bucket = new RateBucket(rate?.perSecond as number, 0, rate?.burst as number);
    const starts: number[] = [];
    for (let now = 0; now < 600_000; now += 100) if (bucket.take(now)) starts.push(now);
    const mostOf = (times: readonly number[]) =>
      Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
    expect(mostOf(starts)).toBeLessThanOrEqual(allowed);
    const oneIsLate = starts.map((at, index) => (index === allowed ? at + 1_000 : at));
    expect(mostOf(oneIsLate)).toBeLessThanOrEqual(allowed);
    expect(starts.length).toBeGreaterThan(allowed * 8);
  }
});

test("the lower of the configured and the allowed rate applies", () => {
  expect(rateOf({ rateLimit: 5, allowedPerMinute: 600 })).toEqual({ perSecond: 5, burst: 5 });
  expect(rateOf({ rateLimit: 5, allowedPerMinute: 120 })).toEqual({ perSecond: 120 / 61, burst: 1 });
  expect(rateOf({ rateLimit: null, allowedPerMinute: null })).toBeNull();
});
