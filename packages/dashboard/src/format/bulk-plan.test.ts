import type { Delivery, Endpoint, Tenant } from "@posthorn/client";
import { expect, test } from "vitest";
import { planDelete, planRetry, planSwitch, type Related } from "./bulk-plan.ts";

const delivery = (id: string, state: Delivery["state"], endpoint_id = "ep_on", tenant = "acme") =>
  ({ id, state, endpoint_id, tenant }) as Delivery;
const endpoint = (id: string, is_active: boolean) => ({ id, is_active, websub: null }) as Endpoint;
const around: Related = {
  endpoints: new Map([
    ["ep_on", endpoint("ep_on", true)],
    ["ep_off", endpoint("ep_off", false)],
    ["ep_asked", { ...endpoint("ep_asked", true), handshake: { state: "denied" } } as Endpoint],
    ["ep_gone", null],
  ]),
  tenants: new Map([
    ["acme", { id: "acme", is_active: true } as Tenant],
    ["off", { id: "off", is_active: false } as Tenant],
  ]),
};

const rows = [
  delivery("dead", "dead"),
  delivery("waiting", "failed"),
  delivery("unknown endpoint", "dead", "ep_not_asked_for"),
  delivery("running", "in_flight"),
  delivery("done", "success"),
  delivery("disabled", "dead", "ep_off"),
  delivery("not agreed", "dead", "ep_asked"),
  delivery("deleted", "dead", "ep_gone"),
  delivery("off", "dead", "ep_on", "off"),
];

test("a retry lists what it would send, and why it skips the others", () => {
  const { doable, skipped } = planRetry(rows, around, { sendsDeliveredAgain: false });
  expect(doable.map(({ id }) => id)).toEqual(["dead", "waiting", "unknown endpoint"]);
  expect(skipped.map(({ why, rows: of }) => [why, of.map(({ id }) => id)])).toEqual([
    ["in_flight", ["running"]],
    ["delivered", ["done"]],
    ["endpoint_disabled", ["disabled"]],
    ["endpoint_not_agreed", ["not agreed"]],
    ["endpoint_deleted", ["deleted"]],
    ["tenant_inactive", ["off"]],
  ]);
});

test("delivered deliveries are sent again on request", () => {
  const { doable } = planRetry(rows, around, { sendsDeliveredAgain: true });
  expect(doable.map(({ id }) => id)).toContain("done");
});

test("only dead letters can be deleted", () => {
  const { doable, skipped } = planDelete(rows);
  expect(doable.every(({ state }) => state === "dead")).toBe(true);
  expect(skipped).toEqual([{ why: "not_dead", rows: rows.filter(({ state }) => state !== "dead") }]);
});

test("endpoints already in the wanted state and WebSub subscriptions are skipped", () => {
  const both = [endpoint("on", true), endpoint("off", false)];
  const followed = {
    ...endpoint("followed", true),
    websub: { topic: "t", lease_expires_at: "" },
  } as Endpoint;
  expect(planSwitch([followed], false)).toMatchObject({
    doable: [],
    skipped: [{ why: "is_subscription" }],
  });
  expect(planSwitch(both, true)).toMatchObject({ doable: [{ id: "off" }], skipped: [{ why: "is_active" }] });
  expect(planSwitch(both, false)).toMatchObject({
    doable: [{ id: "on" }],
    skipped: [{ why: "is_disabled" }],
  });
});
