// Which responses grant permission: headers decide, regardless of the status.
import { expect, test } from "vitest";
import { failed, responded } from "../../../../../tests/support/samples/outcomes.ts";
import { rateOf } from "../../delivery/rate-bucket.ts";
import { decideHandshake } from "./decide-handshake.ts";

const asked = { origin: "hooks.example.com", rate: 120, attempts: 1, hasCallback: false };

const withHeaders = (headers: Record<string, string>, status = 200) => ({
  ...responded(status),
  response: { headers, isComplete: true },
});

test.each([
  [{ "webhook-allowed-origin": "hooks.example.com", "webhook-allowed-rate": "100" }, 200, 100],
  [{ "webhook-allowed-origin": "Hooks.Example.com", "webhook-allowed-rate": "*" }, 200, null],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "1" }, 405, 1],
  [{ "webhook-allowed-origin": "*" }, 500, 120],
  [{ "webhook-allowed-origin": "hooks.example.com " }, 200, 120],
  [{ "webhook-allowed-origin": "*", "webhook-allowed-rate": "99999999999999999999" }, 200, 999_999_999],
])("granted by %j with status %i", (headers, status, allowedRate) => {
  const granted = { state: "granted", allowedRate, detail: null, retryInMs: null };
  expect(decideHandshake(withHeaders(headers, status), asked)).toEqual(granted);
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
  const decision = decideHandshake(withHeaders(headers as Record<string, string>, status), asked);
  expect(decision).toMatchObject({ state: "denied", retryInMs: null });
  expect(decision.detail).toMatch(words);
});

test("a response without headers leaves the handshake waiting if a callback URL was sent", () => {
  expect(decideHandshake(withHeaders({}), { ...asked, hasCallback: true })).toMatchObject({
    state: "waiting",
  });
});

test("an unreachable endpoint is asked seven times in about 31 hours, then its handshake is denied", () => {
  const decide = (attempts: number) => decideHandshake(failed("timeout"), { ...asked, attempts }, () => 0.5);
  const gaps = [1, 2, 3, 4, 5, 6].map(decide);
  expect(gaps.every(({ state }) => state === "requesting")).toBe(true);
  expect(gaps.map(({ retryInMs }) => (retryInMs ?? 0) / 60_000)).toEqual([1, 5, 15, 60, 360, 1440]);
  expect(decide(7)).toMatchObject({ state: "denied", retryInMs: null });
});

test("the lower of the configured and the allowed rate applies", () => {
  expect(rateOf({ rateLimit: 5, allowedPerMinute: 600 })).toEqual({ perSecond: 5, burst: 5 });
  expect(rateOf({ rateLimit: 5, allowedPerMinute: 120 })).toEqual({ perSecond: 120 / 61, burst: 1 });
  expect(rateOf({ rateLimit: null, allowedPerMinute: null })).toBeNull();
});
