import { expect, test } from "vitest";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import type { Event, Target } from "../model.ts";
import { createFanOut } from "./fan-out.ts";
import { Routes } from "./routes.ts";

const event = (tenant: string): Event => ({ tenant, type: "order.paid" }) as Event;

/** Every tenant is named after the number of its endpoints. */
const { fit } = createFanOut({
  db: {} as never,
  lanes: {} as never,
  onCollected: () => {},
  observer: {} as never,
  routes: new Routes(async (tenants) => {
    const target = { events: ["*"], format: "envelope", destination: WEBHOOK } as unknown as Target;
    return new Map(
      tenants.map((tenant) => [
        tenant,
        { version: 1, isActive: true, targets: Array(Number(tenant)).fill(target) },
      ]),
    );
  }),
});

test("events of few endpoints fit into one statement, all of them", async () => {
  expect(await fit(Array(500).fill(event("20")))).toBe(500);
});

test("a statement takes ten thousand deliveries", async () => {
  expect(await fit(Array(10).fill(event("1000")))).toBe(10);
  expect(await fit(Array(11).fill(event("1000")))).toBe(10);
});

test("one event fits, however many endpoints it has", async () => {
  expect(await fit([event("20000"), event("1")])).toBe(1);
});

test("changed routes of a tenant with many endpoints are read again in part", async () => {
  const asked: [string, number][] = [];
  const routes = new Routes(async (tenants, known) => {
    for (const tenant of tenants) asked.push([tenant, known.get(tenant)?.length ?? 0]);
    const target = { events: ["*"], format: "envelope", destination: WEBHOOK } as unknown as Target;
    return new Map(
      tenants.map((tenant) => [
        tenant,
        { version: 1, isActive: true, targets: Array(Number(tenant)).fill(target) },
      ]),
    );
  });
  for (let round = 0; round < 2; round += 1) {
    await routes.ensure(["100", "101"]);
    routes.forget(["100", "101"]);
  }
  expect(asked).toEqual([
    ["100", 0],
    ["101", 0],
    ["100", 0],
    ["101", 101],
  ]);
});
