import type { DeliveryDetail } from "@posthorn/client";
import { WAIT_REASONS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { END_REASONS } from "../../../../posthorn/src/storage/queries/deliveries/read.ts";
import { adviceFor } from "./advice.ts";

const delivery = {
  id: "dlv_1",
  state: "pending" as const,
  dead_reason: null,
  waits_for: null as DeliveryDetail["waits_for"],
  tenant: "acme",
  endpoint_id: "ep_1",
  attempts: [],
};
const endpoint = {
  id: "ep_1",
  is_active: true,
  disabled_reason: null as string | null,
};
const waiting = (reason: string, until: string | null = null) => ({
  waits_for: { reason, until, remedy: "Do something about it." },
});
const scheduled = waiting("retry_delay", "2026-11-15T10:00:00Z");
const disabled = (disabled_reason: string) => ({ is_active: false, disabled_reason });

test.each<[state: DeliveryDetail["state"], delivery: object, endpoint: object | null, says: string | null]>([
  ["success", {}, {}, null],
  ["in_flight", {}, {}, "It is being sent"],
  ["in_flight", waiting("cap"), {}, "Do something about it."],
  ["pending", {}, {}, "It waits for its turn"],
  ["failed", scheduled, {}, "at 2026-11-15T10:00:00Z. To retry now: posthorn retry dlv_1"],
  ["failed", scheduled, null, "posthorn retry dlv_1"],
  ["failed", waiting("circuit", "2026-11-15T10:00:00Z"), {}, "The circuit is open"],
  ["failed", waiting("circuit"), {}, "Do something about it."],
  [
    "failed",
    waiting("endpoint_disabled"),
    disabled("failures"),
    "failures, then: posthorn endpoints enable ep_1 --tenant acme",
  ],
  [
    "pending",
    waiting("endpoint_disabled"),
    disabled("manual"),
    "disabled manually. To enable it: posthorn endpoints enable",
  ],
  ["pending", waiting("ordering"), {}, "Do something about it."],
  // what the delivery waits for decides, not the endpoint beside it
  ["pending", waiting("tenant_off"), disabled("manual"), "posthorn tenants put acme --active"],
  ["pending", waiting("sending_off"), {}, "posthorn delivery set on"],
  ["pending", waiting("handshake"), {}, "posthorn endpoints get ep_1 --tenant acme"],
])("a delivery in state %s (%j) of an endpoint (%j): %s", (state, given, of, says) => {
  const advice = adviceFor({ ...delivery, ...given, state }, of && { ...endpoint, ...of });
  expect(advice).toEqual(says && expect.stringContaining(says));
});

test.each(WAIT_REASONS)("a delivery that waits for %s has advice for that", (reason) => {
  const advice = adviceFor({ ...delivery, ...(waiting(reason) as object) }, endpoint);
  expect(advice).toMatch(/\w/);
  expect(advice).not.toContain("It waits for its turn");
});

test.each(END_REASONS)("a delivery that is dead because of %s has specific advice", (dead_reason) => {
  const advice = adviceFor({ ...delivery, state: "dead", dead_reason }, endpoint);
  expect(advice).not.toContain("It is not retried automatically");
  if (dead_reason !== "endpoint_deleted") expect(advice).toContain("posthorn retry dlv_1");
});

test("advice for a dead letter of a disabled endpoint is to enable it and to retry", () => {
  const dead = { ...delivery, state: "dead" as const, dead_reason: "gone" as const };
  const advice = adviceFor(dead, { ...endpoint, ...disabled("gone") });
  expect(advice).toMatch(/posthorn endpoints enable ep_1 --tenant acme .*posthorn retry dlv_1$/);
});

test("advice for a redacted response asks for a key with payloads:read", () => {
  const dead = { ...delivery, state: "dead" as const, dead_reason: "rejected" as const };
  const adviceAfter = (response_body: string) =>
    adviceFor({ ...dead, attempts: [{ response_body }] as never }, endpoint);
  expect(adviceAfter("[redacted]")).toContain("use a key with payloads:read");
  expect(adviceAfter("no such order")).toContain("see the response above");
});
