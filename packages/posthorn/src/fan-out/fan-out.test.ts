import { expect, test } from "vitest";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import type { Event, Target } from "../model.ts";
import { createFanOut } from "./fan-out.ts";
import { type LoadRoutes, Routes } from "./routes.ts";

/** Every tenant is named after the number of its endpoints. */
const load: LoadRoutes = async (tenants) => {
  const target = { events: ["*"], format: "envelope", destination: WEBHOOK } as unknown as Target;
  const routesOf = (tenant: string) => ({
    version: 1,
    isActive: true,
    targets: Array(Number(tenant)).fill(target),
  });
  return new Map(tenants.map((tenant) => [tenant, routesOf(tenant)]));
};

const unused = {} as never;
const routes = new Routes(load);
const { fit } = createFanOut({
  db: unused,
  lanes: unused,
  observer: unused,
  onCollected: () => {},
  isDropping: () => false,
  storing: (store) => store(false),
  onDropped: () => {},
  routes,
});

test.each<[what: string, tenants: string[], fitting: number]>([
  ["few deliveries", Array(500).fill("20"), 500],
  ["ten thousand deliveries", Array(10).fill("1000"), 10],
  ["more than ten thousand", Array(11).fill("1000"), 10],
  ["an event with more than ten thousand", ["20000", "1"], 1],
])(
  "a statement holds at most ten thousand deliveries, and at least one event: %s",
  async (_, tenants, fitting) => {
    const events = tenants.map((tenant) => ({ tenant, type: "order.paid" }) as Event);
    expect(await fit(events)).toBe(fitting);
  },
);

test("of a tenant with many endpoints only changed routes are read again", async () => {
  const asked: [string, number][] = [];
  const watched = new Routes((tenants, known) => {
    for (const tenant of tenants) asked.push([tenant, known.get(tenant)?.length ?? 0]);
    return load(tenants, known);
  });
  for (let round = 0; round < 2; round += 1) {
    await watched.ensure(["100", "101"]);
    watched.forget(["100", "101"]);
  }
  expect(asked).toEqual([
    ["100", 0],
    ["101", 0],
    ["100", 0],
    ["101", 101],
  ]);
});
