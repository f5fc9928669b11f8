// Events published from SQL that a strict catalogue does not accept.
import { parseId } from "@posthorn/wire";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  databasePerTest,
  newEndpoint,
  publishBySql,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { event } from "../catalogue/declared-types.ts";
import { maintainPartitions } from "../maintenance/partitions.ts";
import { prune } from "../maintenance/prune.ts";
import type { Uuid } from "../model.ts";
import { silentLogger } from "../observe/log.ts";
import { rejectEvents } from "../storage/queries/events/rejected.ts";
import type { TestInstance, TestInstanceOptions } from "../testing/index.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();

const schema = { type: "object", required: ["amount"], properties: { amount: { type: "integer" } } };
const paid = { tenant: "acme", type: "order.paid", data: { amount: 1 } };
const wrong = { ...paid, data: { amount: "1" } };

/** With a type that has a schema, and an endpoint. */
async function openStrict(options: Partial<TestInstanceOptions> = {}) {
  const instance = await world.open(options);
  await instance.hooks.eventTypes.put("order.paid", { schema });
  return { instance, hooks: instance.hooks, ...(await newEndpoint(instance, receiver)) };
}

async function rejectedIds({ hooks }: TestInstance): Promise<string[]> {
  return (await hooks.events.list({ state: "rejected" })).data.map(({ id }) => id);
}

test("an event that violates its schema is rejected with the reason, and the others are delivered", async () => {
  const { instance, hooks, path, id: endpointId } = await openStrict();
  await publishBySql(world.pool, paid);
  const id = await publishBySql(world.pool, wrong);
  await publishBySql(world.pool, paid);
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(2);
  const rejected = await hooks.events.get(id);
  expect(rejected.rejection).toEqual({
    code: "invalid_event",
    pointer: "/data/amount",
    message: expect.stringMatching(/must be integer.*schema of order.paid, version 1/),
    rejectedAt: expect.any(Date),
    discardedAt: null,
  });
  expect(rejected.notMatched).toMatchObject([{ endpointId, reason: "rejected" }]);
  expect(await rejectedIds(instance)).toEqual([id]);
  const all = await hooks.events.list();
  expect(all.data.map(({ rejection }) => rejection?.code ?? null)).toEqual([null, "invalid_event", null]);
  const metrics = await hooks.metrics();
  expect(metrics).toContain('webhook_events_rejected_total{code="invalid_event"} 1');
  expect(metrics).toContain("webhook_rejected_events 1");
});

test("an event is rejected whatever the names of its members are, and the others are delivered", async () => {
  const { instance, hooks, path } = await openStrict();
  await hooks.eventTypes.put("order.noted", { schema: { additionalProperties: { type: "integer" } } });
  const noted = (name: string) => ({ ...paid, type: "order.noted", rawData: Buffer.from(`{"${name}":"1"}`) });
  // "/data/" and the name are 1,000 characters, and one more
  const names = ["a\\u0000b", "a\\ud800b", "a".repeat(994), "a".repeat(995)];
  for (const name of names) await publishBySql(world.pool, noted(name));
  await publishBySql(world.pool, paid);
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
  const { data: rejected } = await hooks.events.list({ state: "rejected" });
  expect(rejected.map(({ rejection }) => rejection?.pointer).reverse()).toEqual([
    "/data/a\ufffdb",
    "/data/a\ufffdb",
    `/data/${"a".repeat(994)}`,
    `/data/${"a".repeat(994)}`,
  ]);
  expect(rejected.map(({ rejection }) => rejection?.message.length)).toEqual([
    1_000,
    1_000,
    expect.any(Number),
    expect.any(Number),
  ]);
});

test("a released event is delivered as it is, once", async () => {
  const { instance, hooks, path } = await openStrict();
  const id = await publishBySql(world.pool, { ...wrong, subject: "order:1" });
  await instance.settle();
  await hooks.events.release(id);
  await instance.settle();
  const [request] = receiver.requestsTo(path);
  expect(JSON.parse(String(request?.body))).toMatchObject({ id, sequence: 1, data: { amount: "1" } });
  expect((await hooks.events.get(id)).rejection).toBeNull();
  expect(await rejectedIds(instance)).toEqual([]);
  await expect(hooks.events.release(id)).rejects.toMatchObject({ code: "event_not_rejected", status: 409 });
  expect(receiver.requestsTo(path)).toHaveLength(1);
});

test("a released event is not rejected again by a worker that had read it before", async () => {
  const { hooks } = await openStrict({ started: false });
  const id = await publishBySql(world.pool, wrong);
  const rejection = {
    eventId: parseId("evt", id) as Uuid,
    code: "invalid_event",
    pointer: "",
    message: "",
  } as const;
  expect(await rejectEvents(hooks.db, [rejection], false)).toHaveLength(1);
  await hooks.events.release(id);
  expect(await rejectEvents(hooks.db, [rejection], false)).toEqual([]);
  expect((await hooks.events.get(id)).rejection).toBeNull();
});

test("an event cannot be released while delivery drops events, and stays rejected", async () => {
  const { instance, hooks, path } = await openStrict();
  const id = await publishBySql(world.pool, wrong);
  await instance.settle();
  await hooks.deliveryMode.set({ mode: "drop" });
  await expect(hooks.events.release(id)).rejects.toMatchObject({
    code: "delivery_drops",
    status: 409,
    message: expect.stringContaining("Set delivery to on or hold"),
  });
  expect(await rejectedIds(instance)).toEqual([id]);
  await hooks.deliveryMode.set({ mode: "hold" });
  await instance.settle();
  await hooks.events.release(id);
  await hooks.deliveryMode.set({ mode: "on" });
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
});

test("a discarded event is not delivered, not even by a replay, until it is released after all", async () => {
  const { instance, hooks, path, id: endpoint } = await openStrict();
  const id = await publishBySql(world.pool, wrong);
  await instance.settle();
  await expect(hooks.events.resend(id, endpoint)).rejects.toMatchObject({ code: "event_rejected" });
  await hooks.events.discard(id);
  expect((await hooks.events.get(id)).rejection?.discardedAt).toEqual(expect.any(Date));
  expect(await rejectedIds(instance)).toEqual([]);
  await expect(hooks.events.discard(id)).rejects.toMatchObject({ code: "event_not_rejected" });
  await hooks.replays.start({ tenant: "acme" });
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(0);
  await hooks.events.release(id);
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
});

/** Rejects an event for each of these, and returns their ids. */
async function rejectEach(instance: TestInstance, inputs: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) ids.push(await publishBySql(world.pool, { ...wrong, ...input }));
  await instance.settle();
  return ids;
}

test("only rejected events that match every filter are counted, released and discarded", async () => {
  const { instance, hooks, path } = await openStrict();
  await hooks.tenants.upsert("beta", {});
  await hooks.eventTypes.put("order.sent", { schema });
  const [first, second, sent, beta] = await rejectEach(instance, [
    { subject: "order:1" },
    { subject: "order:2" },
    { type: "order.sent", subject: "order:1" },
    { tenant: "beta", subject: "order:1" },
  ]);
  const filter = { tenant: "acme", type: "order.paid", subject: "order:1" };
  const { events } = hooks;
  expect(await events.countRejected()).toMatchObject({ count: 4, isExact: true });
  expect(await events.countRejected(filter)).toMatchObject({ count: 1, isExact: true });
  expect(await events.releaseRejected(filter)).toEqual({ released: 1, nextCursor: null });
  await instance.settle();
  expect(receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).id)).toEqual([first]);
  const inAnHour = new Date(Date.now() + 3_600_000);
  for (const range of [{ createdAfter: inAnHour }, { createdBefore: new Date(0) }])
    expect(await events.discardRejected(range)).toEqual({ discarded: 0, nextCursor: null });
  expect(await events.discardRejected({ tenant: "acme" })).toEqual({ discarded: 2, nextCursor: null });
  expect(await rejectedIds(instance)).toEqual([beta]);
  for (const id of [second, sent] as string[])
    expect((await events.get(id)).rejection?.discardedAt).toEqual(expect.any(Date));
  // those that are discarded are no longer released by a filter
  expect(await events.releaseRejected({ tenant: "acme" })).toEqual({ released: 0, nextCursor: null });
});

test("events of a subject that are released together are delivered in their order", async () => {
  const instance = await world.open();
  await instance.hooks.eventTypes.put("order.paid", { schema });
  const { path } = await newEndpoint(instance, receiver, { ordering: "fifo" });
  const ids = await rejectEach(instance, [{ subject: "a" }, { subject: "a" }, { subject: "a" }]);
  expect(await instance.hooks.events.releaseRejected()).toEqual({ released: 3, nextCursor: null });
  await receiver.received(3, { path });
  expect(receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).id)).toEqual(ids);
});

test("events that are rejected after the count are left", async () => {
  const { instance, hooks } = await openStrict();
  await rejectEach(instance, [{}]);
  const { count, rejectedBefore } = await hooks.events.countRejected();
  await instance.advance(10);
  const [later] = await rejectEach(instance, [{}]);
  expect(count).toBe(1);
  expect(await hooks.events.discardRejected({ rejectedBefore })).toEqual({ discarded: 1, nextCursor: null });
  expect(await rejectedIds(instance)).toEqual([later]);
});

test("an event that is discarded while it is released by a filter is not delivered", async () => {
  const { instance, hooks, path } = await openStrict();
  await rejectEach(instance, [{}, {}]);
  const [discarded] = await rejectedIds(instance);
  const release = await inTransaction(world.pool, async (client) => {
    await client.query("update posthorn.rejected_events set discarded_at = now() where event_id = $1", [
      discarded?.slice("evt_".length),
    ]);
    const releasing = hooks.events.releaseRejected();
    await eventually("the release waits for the discard", async () => {
      const { rowCount } = await world.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount === 1;
    });
    return { releasing };
  });
  expect(await release.releasing).toEqual({ released: 1, nextCursor: null });
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
  expect((await hooks.events.get(discarded as string)).rejection?.discardedAt).toEqual(expect.any(Date));
});

test("a call decides about 10,000 events and returns where the next one continues", async () => {
  const { hooks } = await openStrict();
  await world.pool.query(
    `with stored as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(now()), 'acme', 'order.paid', '1', '1' from generate_series(1, 10001)
       returning id
     )
     insert into posthorn.rejected_events (event_id, tenant, code, pointer, message)
     select stored.id, 'acme', 'invalid_event', '', 'too many' from stored`,
  );
  const { discarded, nextCursor } = await hooks.events.discardRejected({ tenant: "acme" });
  expect([discarded, typeof nextCursor]).toEqual([10_000, "string"]);
  expect(await hooks.events.discardRejected({ tenant: "acme", cursor: nextCursor ?? "" })).toEqual({
    discarded: 1,
    nextCursor: null,
  });
  expect(await hooks.events.countRejected()).toMatchObject({ count: 0 });
});

test("events that were too large are not released by a filter, and can be discarded", async () => {
  const { instance, hooks } = await openStrict();
  await rejectEach(instance, [{}, {}]);
  const [large] = await rejectedIds(instance);
  await world.pool.query(
    "update posthorn.rejected_events set code = 'payload_too_large' where event_id = (select max(event_id::text) from posthorn.rejected_events)::uuid",
  );
  const { events } = hooks;
  expect(await events.countRejected({ releasable: true })).toMatchObject({ count: 1 });
  expect(await events.releaseRejected()).toEqual({ released: 1, nextCursor: null });
  expect(await rejectedIds(instance)).toEqual([large]);
  expect(await events.discardRejected()).toEqual({ discarded: 1, nextCursor: null });
});

test("nothing is released by a filter while delivery drops events, and unknown filters are refused", async () => {
  const { instance, hooks } = await openStrict();
  const ids = await rejectEach(instance, [{}]);
  await hooks.deliveryMode.set({ mode: "drop" });
  await expect(hooks.events.releaseRejected()).rejects.toMatchObject({ code: "delivery_drops", status: 409 });
  expect(await rejectedIds(instance)).toEqual(ids);
  for (const filter of [{ state: "rejected" }, { cursor: "ZXZlbnRzOjE" }, { rejectedBefore: "now" }])
    await expect(hooks.events.discardRejected(filter as never)).rejects.toMatchObject({
      code: "invalid_query",
    });
});

test("an accepted event cannot be discarded, and another tenant's event is not found", async () => {
  const { instance, hooks } = await openStrict();
  const accepted = await publishBySql(world.pool, paid);
  const rejected = await publishBySql(world.pool, wrong);
  await instance.settle();
  for (const change of [hooks.events.release, hooks.events.discard]) {
    await expect(change(accepted)).rejects.toMatchObject({ code: "event_not_rejected" });
    await expect(change(rejected, { tenant: "other" })).rejects.toMatchObject({ code: "event_not_found" });
  }
  expect(await rejectedIds(instance)).toEqual([rejected]);
});

test("the list of rejected events has filters and pages", async () => {
  const { instance, hooks } = await openStrict();
  await hooks.tenants.upsert("beta", {});
  await hooks.eventTypes.put("order.sent", { schema });
  const ids: string[] = [];
  for (const [tenant, type] of [
    ["acme", "order.paid"],
    ["beta", "order.paid"],
    ["acme", "order.sent"],
  ] as const)
    ids.push(await publishBySql(world.pool, { ...wrong, tenant, type, subject: `${tenant} ${type}` }));
  await instance.settle();
  const [acmePaid, beta, acmeSent] = ids;
  const listed = async (query: object) =>
    (await hooks.events.list({ state: "rejected", ...query })).data.map(({ id }) => id);
  expect(await listed({})).toEqual([acmeSent, beta, acmePaid]);
  expect(await listed({ tenant: "acme" })).toEqual([acmeSent, acmePaid]);
  expect(await listed({ type: "order.paid" })).toEqual([beta, acmePaid]);
  expect(await listed({ tenant: "acme", type: "order.sent", subject: "acme order.sent" })).toEqual([
    acmeSent,
  ]);
  const first = await hooks.events.list({ state: "rejected", limit: 2 });
  expect(await listed({ cursor: first.nextCursor })).toEqual([acmePaid]);
  await expect(hooks.events.list({ state: "failed" as never })).rejects.toMatchObject({
    code: "invalid_query",
  });
});

test("a rejected event does not hold later events of its subject, and keeps its number", async () => {
  const { instance, path } = await openStrict();
  const publish = (input: typeof wrong | typeof paid) =>
    publishBySql(world.pool, { ...input, subject: "order:1" });
  await publish(wrong);
  await publish(paid);
  await instance.settle();
  expect(receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)).sequence)).toEqual([2]);
});

test("events of a user and of an array are rejected one by one", async () => {
  const { instance, hooks, path } = await openStrict();
  await hooks.tenants.upsert("beta", {});
  for (const tenant of ["acme", "beta"]) await hooks.members.put(tenant, "anna", { role: "member" });
  await world.pool.query(`select posthorn.publish_for_user('anna', 'order.paid', '{}')`);
  await world.pool.query("select posthorn.publish_many($1::text)", [JSON.stringify([paid, wrong, paid])]);
  await instance.settle();
  expect(await rejectedIds(instance)).toHaveLength(3);
  expect(receiver.requestsTo(path)).toHaveLength(2);
});

test("an idempotency key belongs to its rejected event, and creates no second one", async () => {
  const { instance } = await openStrict();
  const keyed = { ...wrong, idempotencyKey: "k" };
  const id = await publishBySql(world.pool, keyed);
  await instance.settle();
  expect(await publishBySql(world.pool, keyed)).toBe(id);
  await instance.settle();
  expect(await rejectedIds(instance)).toEqual([id]);
});

test("a schema that was registered just before the event applies to it", async () => {
  const { hooks } = await world.open({ started: false });
  const instance = await world.open();
  // the started process has not seen the change when it takes the event
  await instance.hooks.engine?.poller.stop();
  await hooks.eventTypes.put("order.paid", { schema });
  await publishBySql(world.pool, wrong);
  await instance.settle();
  expect(await rejectedIds(instance)).toHaveLength(1);
});

test("an event whose type was deleted after its commit is rejected", async () => {
  const { hooks } = await world.open({ started: false });
  await hooks.eventTypes.put("order.paid", { schema });
  await hooks.eventTypes.put("order.sent", {});
  await publishBySql(world.pool, paid);
  await hooks.eventTypes.delete("order.paid");
  const instance = await world.open();
  await instance.settle();
  const [rejected] = (await instance.hooks.events.list({ state: "rejected" })).data;
  expect(rejected?.rejection).toMatchObject({
    pointer: "/type",
    message: expect.stringContaining("no type"),
  });
});

test("an event that is too complex to check is rejected", async () => {
  const { instance, hooks } = await openStrict();
  const costly = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`^(a|b|ab)*c${n}$`, {}]));
  await hooks.eventTypes.put("order.paid", { schema: { patternProperties: costly } });
  const data = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`${"ab".repeat(20)}${n}`, 1]));
  await publishBySql(world.pool, { ...paid, data });
  await publishBySql(world.pool, paid);
  await instance.settle();
  const { data: rejected } = await hooks.events.list({ state: "rejected" });
  expect(rejected.map(({ rejection }) => rejection?.code)).toEqual(["event_too_complex"]);
});

test("a type declared in code is checked by its JSON schema", async () => {
  const events = { "order.paid": event({ schema: z.object({ amount: z.int() }) }) };
  const instance = await world.open({ events });
  const { path } = await newEndpoint(instance, receiver);
  await publishBySql(world.pool, wrong);
  await publishBySql(world.pool, paid);
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
  expect(await rejectedIds(instance)).toHaveLength(1);
});

test("what the library has checked is not checked again", async () => {
  const { hooks } = await world.open({ started: false, catalogue: "open" });
  const { instance, path } = await openStrict();
  await inTransaction(world.pool, (tx) => hooks.publish(wrong, { tx }));
  await inTransaction(world.pool, (tx) => hooks.publish({ ...paid, type: "order.unknown" }, { tx }));
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(2);
});

test("an open catalogue rejects nothing", async () => {
  const { instance, path } = await openStrict({ catalogue: "open" });
  await publishBySql(world.pool, wrong);
  await instance.settle();
  expect(receiver.requestsTo(path)).toHaveLength(1);
});

test("a rejected event outlives the retention until it is discarded", async () => {
  const { instance, hooks } = await openStrict();
  const [waiting, discarded] = [await publishBySql(world.pool, wrong), await publishBySql(world.pool, wrong)];
  await instance.settle();
  await hooks.events.discard(discarded);
  await instance.advance(3 * 86_400_000);
  const options = { db: hooks.db, logger: silentLogger, mayContinue: () => true, retentionDays: 1 };
  await maintainPartitions(options);
  await prune({ ...options, deadRetentionDays: null, idempotencyDays: 1, auditDays: 1 });
  expect(await rejectedIds(instance)).toEqual([waiting]);
  await expect(hooks.events.get(discarded)).rejects.toMatchObject({ code: "event_not_found" });
  expect(await world.countRows("rejected_events")).toEqual([1]);
});
