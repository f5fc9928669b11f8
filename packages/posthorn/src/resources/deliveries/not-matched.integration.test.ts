// The reason why an endpoint has no delivery of an event.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import type { TestInstance } from "../../testing/index.ts";
import type { EndpointInput } from "../endpoints/settings.ts";

const world = databasePerTest();

const hook = { url: "https://hooks.example/in", events: ["*"] };

async function endpoint({ hooks }: TestInstance, input: Partial<EndpointInput> = {}): Promise<string> {
  return (await hooks.endpoints.create("acme", { ...hook, isActive: false, ...input })).endpoint.id;
}

/** Advances the clock, so that before and after differ. */
async function publish(instance: TestInstance, data: unknown = { amount: 5, card: "4242-secret" }) {
  await instance.advance(1_000);
  const { id } = await instance.hooks.publish({ tenant: "acme", type: "order.paid", subject: "o-1", data });
  await instance.advance(1_000);
  return id;
}

async function whyNot({ hooks }: TestInstance, eventId: string, endpointId: string) {
  const { notMatched } = await hooks.events.get(eventId);
  return notMatched.find((item) => item.endpointId === endpointId);
}

test("endpoints without a delivery are listed with the reason type or filter, without the event's data", async () => {
  const a = await world.open();
  const delivered = await endpoint(a);
  const type = await endpoint(a, { events: ["invoice.*"] });
  const filter = await endpoint(a, { filter: { data: { amount: { $gt: 0, $lt: 5 } } } });
  const subject = await endpoint(a, { filter: { subject: { $startsWith: "x-" } } });
  const card = await endpoint(a, { filter: { data: { card: { $ne: "4242-secret" } } } });
  const event = await publish(a);
  const { deliveries, notMatched } = await a.hooks.events.get(event);
  expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([delivered]);
  const settingsChanged = false;
  const filtered = (endpointId: string, pointer: string) => ({
    endpointId,
    reason: "filter",
    detail: `The condition at ${pointer} of its filter does not hold.`,
    pointer,
    settingsChanged,
  });
  const detail = "Its events do not include order.paid.";
  expect(notMatched).toEqual([
    { endpointId: type, reason: "type", detail, pointer: null, settingsChanged },
    filtered(filter, "/data/amount/$lt"),
    filtered(subject, "/subject/$startsWith"),
    filtered(card, "/data/card/$ne"),
  ]);
});

test("an endpoint changed after the event is judged by its current settings and marked as changed", async () => {
  const a = await world.open();
  const id = await endpoint(a, { events: ["invoice.*"] });
  const event = await publish(a);
  await a.hooks.endpoints.update("acme", id, { events: ["*"], filter: { data: { amount: 6 } } });
  expect(await whyNot(a, event, id)).toMatchObject({ reason: "filter", settingsChanged: true });
  await a.hooks.endpoints.update("acme", id, { filter: null });
  expect(await whyNot(a, event, id)).toMatchObject({ reason: "matches_now", settingsChanged: true });
});

test("an event that was dropped because delivery was off says so, events before and after it do not", async () => {
  const a = await world.open();
  const id = await endpoint(a, { events: ["invoice.*"] });
  const before = await publish(a);
  await a.hooks.endpoints.update("acme", id, { events: ["*"] });
  await a.hooks.deliveryMode.set({ mode: "drop" });
  await a.settle();
  const dropped = await publish(a);
  expect(await whyNot(a, dropped, id)).toMatchObject({ reason: "dropped" });
  await a.hooks.endpoints.update("acme", id, { events: ["invoice.*"] });
  await a.hooks.deliveryMode.set({ mode: "on" });
  await a.settle();
  await a.advance(1_000);
  const after = await publish(a);
  await a.hooks.endpoints.update("acme", id, { events: ["*"] });
  expect(await whyNot(a, before, id)).toMatchObject({ reason: "matches_now" });
  expect(await whyNot(a, dropped, id)).toMatchObject({ reason: "dropped" });
  expect(await whyNot(a, after, id)).toMatchObject({ reason: "matches_now" });
});

test("with the start-up setting drop, also the first event is explained as dropped", async () => {
  const a = await world.open({ enabled: "drop" });
  const id = await endpoint(a);
  const event = await publish(a);
  await eventually("it is counted", async () => (await whyNot(a, event, id))?.reason === "dropped");
});

test("endpoints created later or deleted since are listed, those deleted before are not", async () => {
  const a = await world.open();
  const before = await endpoint(a);
  await a.hooks.endpoints.delete("acme", before);
  const since = await endpoint(a, { events: ["invoice.*"] });
  const event = await publish(a);
  const later = await endpoint(a);
  await a.hooks.endpoints.delete("acme", since);
  expect(await whyNot(a, event, later)).toMatchObject({ reason: "created_later", settingsChanged: false });
  expect(await whyNot(a, event, since)).toMatchObject({ reason: "deleted" });
  expect(await whyNot(a, event, before)).toBeUndefined();
});

test("an inactive tenant and an event in the outbox have their own reasons", async () => {
  const a = await world.open({ started: false });
  const id = await endpoint(a);
  const event = await publish(a);
  expect(await whyNot(a, event, id)).toMatchObject({ reason: "waiting" });
  await a.hooks.start();
  await a.settle();
  expect((await a.hooks.events.get(event)).notMatched).toEqual([]);
  await a.hooks.tenants.upsert("acme", { isActive: false });
  const undelivered = await publish(a);
  expect(await whyNot(a, undelivered, id)).toMatchObject({
    reason: "tenant_inactive",
    settingsChanged: false,
  });
  await a.hooks.tenants.upsert("acme", { isActive: true });
  expect(await whyNot(a, undelivered, id)).toMatchObject({ reason: "matches_now" });
});

test("a test event goes to one endpoint, and an endpoint gets no event about itself", async () => {
  const a = await world.open();
  const tested = await endpoint(a, { isActive: true });
  const other = await endpoint(a);
  await a.advance(1_000);
  const { eventId } = await a.hooks.endpoints.test("acme", tested);
  expect(await whyNot(a, eventId, other)).toMatchObject({ reason: "test" });
  await world.pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, subject, payload)
     values (posthorn.uuidv7(posthorn.now()), 'acme', 'webhook.endpoint.disabled', '1', $1, '{}')`,
    [tested],
  );
  const [event] = (await a.hooks.events.list({ type: "webhook.endpoint.disabled" })).data;
  expect(await whyNot(a, event?.id as string, tested)).toMatchObject({ reason: "about_itself" });
});

test("match reports whether an unpublished event would be delivered", async () => {
  const a = await world.open();
  const id = await endpoint(a, { events: ["order.*"], filter: { data: { amount: { $gte: 100 } } } });
  const match = (input: object) =>
    a.hooks.endpoints.match("acme", id, { type: "order.paid", data: { amount: 5 }, ...input });
  const none = { reason: null, detail: null, pointer: null };
  expect(await match({ data: { amount: 100 } })).toEqual({ matches: true, ...none });
  expect(await match({})).toMatchObject({ matches: false, reason: "filter", pointer: "/data/amount/$gte" });
  expect(await match({ type: "invoice.paid" })).toMatchObject({ matches: false, reason: "type" });
  expect(await match({ filter: null })).toEqual({ matches: true, ...none });
  expect(await match({ filter: { subject: "s" }, subject: "s" })).toEqual({ matches: true, ...none });
  await expect(match({ filter: { data: { $near: 1 } } })).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer: "/filter/data/$near" }],
  });
  await expect(match({ type: "Order Paid" })).rejects.toMatchObject({
    code: "invalid_event",
    problems: [{ pointer: "/type" }],
  });
  await expect(match({ typ: "x" })).rejects.toMatchObject({ problems: [{ pointer: "/typ" }] });
  expect((await a.hooks.events.list({ tenant: "acme" })).data).toEqual([]);
});
