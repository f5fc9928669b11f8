// The catalogue and publishing: rejected events by every way of publishing, and how soon other processes see a change.
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { createPool, inTransaction } from "../../../../tests/support/database/postgres.ts";
import { eventuallyPasses } from "../../../../tests/support/eventually.ts";
import type { PublishInput } from "../event/validate.ts";
import type { TestInstance } from "../testing/index.ts";
import { REFRESH_MS } from "./catalogue.ts";
import { event } from "./declared-types.ts";

const world = databasePerTest();

const schema = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "integer" }, currency: { enum: ["EUR", "USD"] } },
};
const paid = { tenant: "acme", type: "order.paid", data: { amount: 1 } };
const wrong = { ...paid, data: { amount: "1" } };

const ways: [way: string, publish: (instance: TestInstance, input: PublishInput) => Promise<unknown>][] = [
  ["publish", ({ hooks }, input) => hooks.publish(input)],
  [
    "publish in a transaction",
    ({ hooks }, input) => inTransaction(world.pool, (tx) => hooks.publish(input, { tx })),
  ],
  ["publishMany", ({ hooks }, input) => hooks.publishMany([input])],
];

describe.each(ways)("%s", (way, publish) => {
  const at = way === "publishMany" ? "/0" : "";

  test("rejects data that violates its schema, with a pointer", async () => {
    const instance = await world.open();
    await instance.hooks.eventTypes.put("order.paid", { schema });
    await publish(instance, paid);
    await expect(publish(instance, wrong)).rejects.toMatchObject({
      code: "invalid_event",
      problems: [{ pointer: `${at}/data/amount`, message: expect.stringContaining("must be integer") }],
    });
    await expect(publish(instance, { ...paid, data: {} })).rejects.toMatchObject({
      problems: [{ pointer: `${at}/data/amount`, message: expect.stringContaining("is missing") }],
    });
    expect(Object.keys((await instance.hooks.events.list()).data)).toHaveLength(1);
  });

  test("rejects an unregistered type with a suggestion", async () => {
    const instance = await world.open();
    await publish(instance, { ...paid, type: "order.piad" });
    await instance.hooks.eventTypes.put("order.paid", { schema });
    await expect(publish(instance, { ...paid, type: "order.piad" })).rejects.toMatchObject({
      code: "invalid_event",
      problems: [{ pointer: `${at}/type`, message: expect.stringContaining("Did you mean order.paid?") }],
    });
    await expect(publish(instance, { ...paid, apiVersion: "2" })).rejects.toMatchObject({
      problems: [{ pointer: `${at}/apiVersion`, message: expect.stringContaining("Registered are 1") }],
    });
  });

  test("accepts nothing in an empty strict catalogue, and everything in an open one", async () => {
    const strict = await world.open({ catalogue: "strict" });
    await expect(publish(strict, paid)).rejects.toMatchObject({
      problems: [{ pointer: `${at}/type`, message: expect.stringContaining("register") }],
    });
    // the last one decides for SQL
    const open = await world.open({ catalogue: "open" });
    await publish(open, { ...paid, type: "made.up" });
    await open.hooks.eventTypes.put("order.paid", { schema });
    await publish(open, wrong);
    await publish(open, { ...paid, type: "made.up" });
  });
});

describe("an endpoint that subscribes to a type by name", () => {
  const hook = { url: "https://example.com/hooks", events: ["order.piad"] };
  const refused = {
    code: "invalid_endpoint",
    problems: [{ pointer: "/events/0", message: expect.stringContaining("Did you mean order.paid?") }],
  };

  test("is rejected if a strict catalogue lacks the type, when it is created, changed or imported", async () => {
    const { hooks } = await world.open();
    const { endpoints } = hooks;
    const { endpoint } = await endpoints.create("acme", hook);
    await hooks.eventTypes.put("order.paid", {});
    await expect(endpoints.create("acme", hook)).rejects.toMatchObject(refused);
    await expect(endpoints.import("acme", { endpoints: [hook] })).rejects.toMatchObject({
      problems: [{ pointer: "/endpoints/0/events/0" }],
    });
    const changed = await endpoints.update("acme", endpoint.id, { events: ["order.piad", "order.paid"] });
    expect(changed.events).toEqual(["order.piad", "order.paid"]);
    await endpoints.update("acme", endpoint.id, { events: ["order.paid"] });
    await expect(endpoints.update("acme", endpoint.id, { events: hook.events })).rejects.toMatchObject(
      refused,
    );
  });

  test("may subscribe to registered types, system events, and patterns that match nothing yet", async () => {
    const { hooks } = await world.open({ catalogue: "strict" });
    await expect(hooks.endpoints.create("acme", hook)).rejects.toMatchObject({
      problems: [{ message: expect.stringContaining("register this one first") }],
    });
    await hooks.eventTypes.put("order.paid", {});
    const events = ["order.paid", "webhook.endpoint.disabled", "invoice.*", "*"];
    expect((await hooks.endpoints.create("acme", { ...hook, events })).endpoint.events).toEqual(events);
    await hooks.eventTypes.delete("order.paid");
    await expect(hooks.endpoints.create("acme", { ...hook, events: ["order.paid"] })).rejects.toMatchObject({
      code: "invalid_endpoint",
    });
  });
});

test("each version of a type is checked with its own schema", async () => {
  const { hooks } = await world.open();
  await hooks.eventTypes.put("order.paid", { schema });
  await hooks.eventTypes.put("order.paid", { apiVersion: "2", schema: { required: ["total"] } });
  await hooks.publish({ ...paid, apiVersion: "1" });
  await hooks.publish({ ...paid, apiVersion: "2", data: { total: 1 } });
  await expect(hooks.publish({ ...paid, apiVersion: "2" })).rejects.toMatchObject({
    problems: [{ pointer: "/data/total" }],
  });
});

test("an event, a declared and a registered type without a version have that of the deployment", async () => {
  const declared = { "order.sent": event({ schema: {} }) };
  const instance = await world.open({ apiVersion: "2026-06-01", catalogue: "strict", events: declared });
  const { hooks } = instance;
  expect(await hooks.eventTypes.get("order.sent")).toMatchObject({ apiVersion: "2026-06-01" });
  expect(await hooks.eventTypes.put("order.paid", { schema })).toMatchObject({ apiVersion: "2026-06-01" });
  const imported = { openapi: "3.1.0", info: {}, webhooks: { "order.new": { post: {} } } };
  expect(await hooks.eventTypes.import(imported)).toMatchObject([{ apiVersion: "2026-06-01" }]);
  for (const [, publish] of ways) await publish(instance, paid);
  await hooks.publish({ tenant: "acme", type: "order.sent", data: 1 });
  await world.pool.query(`select posthorn.publish(tenant => 'acme', type => 'order.new', data => '1')`);
  await world.pool.query(`select posthorn.publish('acme', 'order.new', '{}'::jsonb)`);
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: "http://127.0.0.1:9999/x",
    events: ["*"],
  });
  await hooks.endpoints.test("acme", endpoint.id);
  const { data } = await hooks.events.list();
  expect(data.map(({ apiVersion }) => apiVersion)).toEqual(Array(7).fill("2026-06-01"));
  await expect(hooks.publish({ ...paid, apiVersion: "1" })).rejects.toMatchObject({ code: "invalid_event" });
});

test("exported documents have the deployment's names of envelope fields, and are imported again", async () => {
  const envelopeFields = { tenant_id: "team_id", data: "payload" };
  const { hooks } = await world.open({ envelopeFields });
  await hooks.eventTypes.put("order.paid", { schema, example: { amount: 1 } });
  const exported = await hooks.eventTypes.export("openapi");
  expect(JSON.stringify(exported)).not.toContain("tenant_id");
  expect(JSON.stringify(exported)).toContain('"team_id":"acme","payload":{"amount":1}');
  expect(await hooks.eventTypes.import(exported)).toMatchObject([
    { name: "order.paid", change: "unchanged" },
  ]);
});

test("another process checks events against a new type within a second", async () => {
  const [a, b, idle] = [await world.open(), await world.open(), await world.open({ started: false })];
  await b.hooks.publish(wrong);
  await idle.hooks.publish(wrong);
  await a.hooks.eventTypes.put("order.paid", { schema });
  for (const { hooks } of [b, idle])
    await eventuallyPasses(() =>
      expect(hooks.publish(wrong)).rejects.toMatchObject({ code: "invalid_event" }),
    );
  // a bound on the time itself would fail on a busy machine
  expect(REFRESH_MS).toBeLessThan(1_000);
});

test("the catalogue is read through the caller's transaction, which may use the last connection", async () => {
  const started = await world.open();
  await started.hooks.eventTypes.put("order.paid", { schema });
  const single = createPool(world.connectionString, { max: 1 });
  onTestFinished(() => single.end());
  const { hooks } = await world.open({ started: false, database: single });
  const tx = await single.connect();
  await tx.query("begin");
  await hooks.publish(paid, { tx });
  await expect(hooks.publish(wrong, { tx })).rejects.toMatchObject({ code: "invalid_event" });
  await tx.query("commit");
  tx.release();
  expect((await hooks.events.list()).data).toHaveLength(1);
});

test("the SQL function rejects unregistered types and does not check schemas", async () => {
  const { hooks } = await world.open();
  const publish = (type: string, data: string) =>
    world.pool.query("select posthorn.publish(tenant => 'acme', type => $1, data => $2)", [type, data]);
  await publish("anything.goes", "{}");
  await hooks.eventTypes.put("order.paid", { schema });
  await publish("order.paid", '{"amount":"x"}');
  await expect(publish("anything.goes", "{}")).rejects.toMatchObject({ code: "PH422", hint: "unknown_type" });
  await world.open({ catalogue: "open" });
  await publish("anything.goes", "{}");
});

test("test events and other system events bypass the catalogue", async () => {
  const { hooks } = await world.open({ catalogue: "strict" });
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: "http://127.0.0.1:9999/x",
    events: ["*"],
  });
  await hooks.endpoints.test("acme", endpoint.id);
});

describe("types in code", () => {
  const order = z.object({ total: z.coerce.number(), note: z.string().default("none") });

  test("the schema's output is stored, with the version of the declaration", async () => {
    const { hooks } = await world.open({ events: { "order.paid": event({ schema: order, version: "3" }) } });
    const { id } = await hooks.publish({ ...paid, data: { total: "12" } });
    const stored = await hooks.events.get(id);
    expect([stored.apiVersion, String(stored.payload)]).toEqual(["3", '{"total":12,"note":"none"}']);
  });

  test("asynchronous schemas and raw bytes are checked too", async () => {
    const slow = z.object({ total: z.number() }).refine(async ({ total }) => total > 0);
    const { hooks } = await world.open({ events: { "order.paid": event({ schema: slow }) } });
    await hooks.publish({ tenant: "acme", type: "order.paid", rawData: Buffer.from('{"total": 1}') });
    await expect(hooks.publishMany([{ ...paid, data: { total: "x" } }, paid])).rejects.toMatchObject({
      code: "invalid_event",
      problems: [{ pointer: "/0/data/total" }, { pointer: "/1/data/total" }],
    });
  });

  test("start registers them once for other processes", async () => {
    const events = {
      "order.paid": event({
        schema: order,
        description: "It was paid.",
        redact: ["/note"],
        deprecated: true,
      }),
    };
    const { hooks } = await world.open({ events });
    const first = await hooks.eventTypes.get("order.paid");
    expect(first).toMatchObject({
      description: "It was paid.",
      redact: ["/note"],
      deprecated: true,
      schema: { properties: { total: { type: "number" } } },
    });
    await world.open({ events });
    expect(await hooks.eventTypes.get("order.paid")).toEqual(first);
    const other = await world.open();
    await expect(other.hooks.publish({ ...paid, type: "made.up" })).rejects.toMatchObject({
      code: "invalid_event",
    });
  });

  test("they are checked before start too, and an invalid declaration throws at once", async () => {
    const { hooks } = await world.open({ started: false, events: { "order.paid": event({ schema }) } });
    await expect(hooks.publish(wrong)).rejects.toMatchObject({ code: "invalid_event" });
    const bad = { "order.paid": event({ schema: { type: "nonsense" } }) };
    await expect(world.open({ events: bad })).rejects.toMatchObject({ code: "invalid_config" });
    await expect(world.open({ events: { "Order Paid": event({ schema }) } })).rejects.toMatchObject({
      code: "invalid_config",
    });
  });
});
