import { expect, test } from "vitest";
import { holdOf } from "./hold.ts";

const now = Date.parse("2026-11-16T12:00:00Z");
const soon = "2026-11-16T12:01:00Z";
const later = "2026-11-16T12:05:00Z";
const failed = { state: "failed", next_retry_at: null } as const;
const health = {
  consecutive_failures: 0,
  failing_since: null,
  last_error: null,
  probe_at: null,
  throttled_until: null,
  current_max_in_flight: 5,
  last_day: null,
};
const well = { is_active: true, handshake: null, circuit: "closed", health } as const;
const disabled = { is_active: false };
const open = (probe_at: string) => ({ circuit: "open", health: { ...health, probe_at } }) as const;
const throttled = { circuit: "open", health: { ...health, probe_at: later, throttled_until: soon } } as const;
const probing = { circuit: "half_open" } as const;

test.each([
  ["a disabled endpoint", { next_retry_at: later }, disabled, { by: "endpoint" }],
  ["an open circuit until the probe", {}, open(later), { by: "circuit", until: new Date(later) }],
  [
    "an open circuit, if pending",
    { state: "pending" },
    open(later),
    { by: "circuit", until: new Date(later) },
  ],
  ["a throttle until its end", {}, throttled, { by: "throttle", until: new Date(soon) }],
  ["a probe in flight", {}, probing, { by: "probe" }],
] as const)("a delivery is held by %s", (_, delivery, endpoint, hold) => {
  expect(holdOf({ ...failed, ...delivery }, { ...well, ...endpoint }, well, now)).toEqual(hold);
});

test("an inactive tenant takes precedence over a disabled endpoint", () => {
  expect(holdOf(failed, { ...well, ...disabled }, disabled, now)).toEqual({ by: "tenant" });
});

test.each([
  ["whose next attempt is after the probe", { next_retry_at: later }, open(soon)],
  ["whose next attempt is at the probe", { next_retry_at: soon }, open(soon)],
  ["that is not due while a probe is in flight", { next_retry_at: later }, probing],
  ["that succeeded", { state: "success" }, disabled],
  ["that is dead", { state: "dead" }, disabled],
  ["in flight", { state: "in_flight" }, disabled],
] as const)("a delivery %s is not held", (_, delivery, endpoint) => {
  expect(holdOf({ ...failed, ...delivery }, { ...well, ...endpoint }, well, now)).toBeNull();
});
