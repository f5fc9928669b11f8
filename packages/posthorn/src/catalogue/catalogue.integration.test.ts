// The catalogue at work: what publishing refuses, by every way in, and how soon a change is seen elsewhere.
import type { PoolClient } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { databasePerTest } from "../../../../tests/support/database-per-test.ts";
import { createPool } from "../../../../tests/support/postgres.ts";
import type { PublishInput } from "../event/validate.ts";
import type { TestInstance } from "../testing/index.ts";
import { event } from "./declared-types.ts";

const world = databasePerTest();

const schema = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "integer" }, currency: { enum: ["EUR", "USD"] } },
};
const paid = { tenant: "acme", type: "order.paid", data: { amount: 1 } };
const wrong = { ...paid, data: { amount: "1" } };

async function inTransaction<Result>(work: (tx: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await world.pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

const ways: [way: string, publish: (instance: TestInstance, input: PublishInput) => Promise<unknown>][] = [
  ["publish", ({ hooks }, input) => hooks.publish(input)],
  ["publish in a transaction", ({ hooks }, input) => inTransaction((tx) => hooks.publish(input, { tx }))],
  ["publishMany", ({ hooks }, input) => hooks.publishMany([input])],
];

describe.each(ways)("%s", (way, publish) => {
  const at = way === "publishMany" ? "/0" : "";

  test("refuses data that does not fit its schema, and points at the place", async () => {
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

  test("refuses a type that nobody registered, with the one that was meant", async () => {
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

  test("goes on as before without a type, and takes everything when the catalogue is open", async () => {
    const open = await world.open({ catalogue: "open" });
    await publish(open, { ...paid, type: "made.up" });
    await open.hooks.eventTypes.put("order.paid", { schema });
    await publish(open, wrong);
    await publish(open, { ...paid, type: "made.up" });
  });

  test("refuses everything while a strict catalogue is empty", async () => {
    const strict = await world.open({ catalogue: "strict" });
    await expect(publish(strict, paid)).rejects.toMatchObject({
      problems: [{ pointer: `${at}/type`, message: expect.stringContaining("register") }],
    });
  });
});

describe("an endpoint that asks for a type by its name", () => {
  const hook = { url: "https://example.com/hooks", events: ["order.piad"] };
  const refused = {
    code: "invalid_endpoint",
    problems: [{ pointer: "/events/0", message: expect.stringContaining("Did you mean order.paid?") }],
  };

  test("is refused while a strict catalogue has none of that name, made, changed or imported", async () => {
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

  test("may ask for what is registered, for Posthorn's own events, and by patterns for what is not there yet", async () => {
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

  test("may ask for anything while everything is published", async () => {
    const { hooks } = await world.open({ catalogue: "open" });
    await hooks.eventTypes.put("order.paid", {});
    await hooks.endpoints.create("acme", hook);
  });
});

test("two versions of a type are checked each by its own schema", async () => {
  const { hooks } = await world.open();
  await hooks.eventTypes.put("order.paid", { schema });
  await hooks.eventTypes.put("order.paid", { apiVersion: "2", schema: { required: ["total"] } });
  await hooks.publish({ ...paid, apiVersion: "1" });
  await hooks.publish({ ...paid, apiVersion: "2", data: { total: 1 } });
  await expect(hooks.publish({ ...paid, apiVersion: "2" })).rejects.toMatchObject({
    problems: [{ pointer: "/data/total" }],
  });
});

test("nobody is refused for what another process has allowed by now", async () => {
  const [a, b] = [await world.open(), await world.open()];
  await a.hooks.eventTypes.put("order.paid", {});
  await b.hooks.eventTypes.put("invoice.sent", {});
  await a.hooks.publish({ ...paid, type: "invoice.sent" });
  await a.hooks.eventTypes.delete("invoice.sent");
  await b.hooks.eventTypes.delete("order.paid");
  await a.hooks.publish({ ...paid, type: "anything.goes" });
});

test("another process holds a new type against events within a second", async () => {
  const [a, b, idle] = [await world.open(), await world.open(), await world.open({ started: false })];
  await b.hooks.publish(wrong);
  await idle.hooks.publish(wrong);
  await a.hooks.eventTypes.put("order.paid", { schema });
  const refused = { timeout: 1_000, interval: 50 };
  const codeOf = (instance: TestInstance) => () =>
    instance.hooks.publish(wrong).then(
      () => "published",
      ({ code }) => code,
    );
  await expect.poll(codeOf(b), refused).toBe("invalid_event");
  await expect.poll(codeOf(idle), refused).toBe("invalid_event");
});

test("the catalogue is read through the caller's transaction, which may hold the last connection there is", async () => {
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

test("the SQL function refuses types that are not registered, and does not read schemas", async () => {
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

test("the endpoint's test event and other system events pass whatever the catalogue says", async () => {
  const { hooks } = await world.open({ catalogue: "strict" });
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: "http://127.0.0.1:9999/x",
    events: ["*"],
  });
  await hooks.endpoints.test("acme", endpoint.id);
});

describe("types in code", () => {
  const order = z.object({ total: z.coerce.number(), note: z.string().default("none") });

  test("what is stored is what the schema gave back, under the version of the declaration", async () => {
    const { hooks } = await world.open({ events: { "order.paid": event({ schema: order, version: "3" }) } });
    const { id } = await hooks.publish({ ...paid, data: { total: "12" } });
    const stored = await hooks.events.get(id);
    expect([stored.apiVersion, String(stored.payload)]).toEqual(["3", '{"total":12,"note":"none"}']);
  });

  test("a schema that answers later, and bytes instead of data, are checked as well", async () => {
    const slow = z.object({ total: z.number() }).refine(async ({ total }) => total > 0);
    const { hooks } = await world.open({ events: { "order.paid": event({ schema: slow }) } });
    await hooks.publish({ tenant: "acme", type: "order.paid", rawData: Buffer.from('{"total": 1}') });
    await expect(hooks.publishMany([{ ...paid, data: { total: "x" } }, paid])).rejects.toMatchObject({
      code: "invalid_event",
      problems: [{ pointer: "/0/data/total" }, { pointer: "/1/data/total" }],
    });
  });

  test("a JSON schema is as good", async () => {
    const { hooks } = await world.open({ events: { "order.paid": event({ schema }) } });
    await hooks.publish(paid);
    await expect(hooks.publish(wrong)).rejects.toMatchObject({ problems: [{ pointer: "/data/amount" }] });
  });

  test("start writes them down for everybody else, once", async () => {
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

  test("they are checked before start too, and a bad declaration is told at once", async () => {
    const { hooks } = await world.open({ started: false, events: { "order.paid": event({ schema }) } });
    await expect(hooks.publish(wrong)).rejects.toMatchObject({ code: "invalid_event" });
    const bad = { "order.paid": event({ schema: { type: "nonsense" } }) };
    await expect(world.open({ events: bad })).rejects.toMatchObject({ code: "invalid_config" });
    await expect(world.open({ events: { "Order Paid": event({ schema }) } })).rejects.toMatchObject({
      code: "invalid_config",
    });
  });
});
