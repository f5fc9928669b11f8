import { expect, test } from "vitest";
import { END_REASONS } from "../../../../posthorn/src/storage/queries/deliveries/delivery-row.ts";
import { adviceFor } from "./advice.ts";

const delivery = {
  id: "dlv_1",
  state: "pending" as const,
  dead_reason: null,
  next_retry_at: null,
  tenant: "acme",
  attempts: [],
};
const health = {
  consecutive_failures: 0,
  failing_since: null,
  last_error: null,
  probe_at: null,
  throttled_until: null,
  last_day: null,
};
const now = new Date("2026-11-15T09:00:00Z");
const endpoint = {
  id: "ep_1",
  is_active: true,
  disabled_reason: null as string | null,
  circuit: "closed" as const,
  health,
};

test.each([
  ["success", delivery, endpoint, null],
  ["in_flight", delivery, endpoint, "It is being sent"],
  ["pending", delivery, endpoint, "It waits for its turn"],
  [
    "failed",
    { ...delivery, next_retry_at: "2026-11-15T10:00:00Z" },
    endpoint,
    "automatically at 2026-11-15T10:00:00Z. To retry now: posthorn retry dlv_1",
  ],
  ["failed", delivery, { ...endpoint, circuit: "open" as const }, "The circuit is open"],
  ["failed", delivery, { ...endpoint, is_active: false }, "posthorn endpoints enable ep_1 --tenant acme"],
  [
    "failed",
    delivery,
    { ...endpoint, is_active: false, disabled_reason: "failures" },
    "Fix the cause of its failures",
  ],
  [
    "pending",
    delivery,
    { ...endpoint, is_active: false, disabled_reason: "manual" },
    "disabled manually. To enable it: posthorn endpoints enable",
  ],
  [
    "failed",
    delivery,
    { ...endpoint, health: { ...health, throttled_until: "2026-11-15T09:00:01Z" } },
    "asked for a pause until 2026-11-15T09:00:01Z",
  ],
  [
    "failed",
    delivery,
    { ...endpoint, health: { ...health, throttled_until: "2026-11-15T09:00:00Z" } },
    "It waits for its turn",
  ],
  ["failed", { ...delivery, next_retry_at: "2026-11-15T10:00:00Z" }, null, "posthorn retry dlv_1"],
] as const)("a delivery in state %s", (state, given, of, says) => {
  const advice = adviceFor({ ...given, state }, of, now);
  if (says === null) expect(advice).toBeNull();
  else expect(advice).toContain(says);
});

test.each(END_REASONS)("a delivery that is dead because of %s has specific advice", (dead_reason) => {
  const advice = adviceFor({ ...delivery, state: "dead", dead_reason }, endpoint, now);
  expect(advice).not.toContain("It is not retried automatically");
  if (dead_reason !== "endpoint_deleted") expect(advice).toContain("posthorn retry dlv_1");
});

test("advice for a dead letter of a disabled endpoint is to enable it and to retry", () => {
  const dead = { ...delivery, state: "dead" as const, dead_reason: "gone" as const };
  const advice = adviceFor(dead, { ...endpoint, is_active: false, disabled_reason: "gone" }, now);
  expect(advice).toMatch(/posthorn endpoints enable ep_1 --tenant acme .*posthorn retry dlv_1$/);
});

test("advice for a redacted response asks for a key with payloads:read", () => {
  const attempt = { response_body: "[redacted]" };
  const dead = { ...delivery, state: "dead" as const, dead_reason: "rejected" as const };
  const seen = { ...attempt, response_body: "no such order" };
  const adviceWith = (attempts: readonly object[]) =>
    adviceFor({ ...dead, attempts: attempts as never }, endpoint, now);
  expect(adviceWith([attempt])).toContain("use a key with payloads:read");
  expect(adviceWith([seen])).toContain("see the response above");
});
