import { expect, test } from "vitest";
import { holdOf } from "./hold.ts";

const now = Date.parse("2026-11-16T12:00:00Z");
const soon = "2026-11-16T12:01:00Z";
const later = "2026-11-16T12:05:00Z";
const failed = { state: "failed", next_retry_at: null } as const;
const active = { is_active: true } as const;
const nothing = {
  consecutive_failures: 0,
  failing_since: null,
  last_error: null,
  probe_at: null,
  throttled_until: null,
  last_day: null,
};
const well = { is_active: true, handshake: null, circuit: "closed", health: nothing } as const;

test("a delivery to a healthy endpoint is not held", () => {
  expect(holdOf(failed, well, active, now)).toBeNull();
});

test("an inactive tenant or a disabled endpoint holds a delivery; the tenant takes precedence", () => {
  const off = { ...well, is_active: false };
  expect(holdOf({ ...failed, next_retry_at: later }, off, active, now)).toEqual({ by: "endpoint" });
  expect(holdOf(failed, off, { is_active: false }, now)).toEqual({ by: "tenant" });
});

test("a receiver that has not consented holds a delivery", () => {
  const asked = { origin: "a.example", rate: null, allowed_rate: null, asked_at: null, decided_at: null };
  for (const state of ["asking", "waiting", "denied", "granted"] as const) {
    const hold = holdOf(failed, { ...well, handshake: { ...asked, detail: null, state } }, active, now);
    expect([state, hold]).toEqual([state, state === "granted" ? null : { by: "handshake" }]);
  }
});

test("an open circuit holds a delivery until the probe, and a throttle until its end", () => {
  const open = { ...well, circuit: "open", health: { ...nothing, probe_at: later } } as const;
  expect(holdOf(failed, open, active, now)).toEqual({ by: "circuit", until: new Date(later) });
  expect(holdOf({ ...failed, state: "pending" }, open, active, now)?.by).toBe("circuit");
  const paused = { ...open, health: { ...open.health, throttled_until: soon } };
  expect(holdOf(failed, paused, active, now)).toEqual({ by: "throttle", until: new Date(soon) });
});

test("a hold that ends before the next attempt is ignored", () => {
  const open = { ...well, circuit: "open", health: { ...nothing, probe_at: soon } } as const;
  expect(holdOf({ ...failed, next_retry_at: later }, open, active, now)).toBeNull();
  expect(holdOf({ ...failed, next_retry_at: soon }, open, active, now)).toBeNull();
});

test("due deliveries wait while a probe is in flight", () => {
  const probed = { ...well, circuit: "half_open" } as const;
  expect(holdOf(failed, probed, active, now)).toEqual({ by: "probe" });
  expect(holdOf({ ...failed, next_retry_at: later }, probed, active, now)).toBeNull();
});

test("finished deliveries and those in flight are not held", () => {
  const off = { ...well, is_active: false };
  for (const state of ["success", "dead", "in_flight"] as const)
    expect(holdOf({ ...failed, state }, off, active, now)).toBeNull();
});
