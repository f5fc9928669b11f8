// Batches: when one is created, its members, and that it is one delivery from then on.

import type { EventAttributes } from "@posthorn/wire";
import { batchBytes, decodeBatch } from "@posthorn/wire";
import {
  type ReceivedRequest,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "posthorn/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import type { BatchSettings } from "../model.ts";
import type { ReplayInput } from "../replay/replays.ts";

let receiver: ScriptedReceiver;
beforeEach(async () => {
  receiver = await startScriptedReceiver();
});
afterEach(() => receiver.close());
const world = databasePerTest({ retryPolicy: "1m,1m" });

const HOUR_MS = 3_600_000;
const order = { tenant: "acme", type: "order.paid" };

async function openBatch(
  batch: Partial<BatchSettings>,
): Promise<TestInstance & { readonly endpointId: string }> {
  const instance = await world.open();
  const { endpoint } = await instance.hooks.endpoints.create("acme", {
    url: `${receiver.url}/in`,
    events: ["*"],
    format: "cloudevents-batch",
    batch: { maxDelayMs: HOUR_MS, ...batch },
  });
  return { ...instance, endpointId: endpoint.id };
}

async function publish(
  { hooks }: TestInstance,
  count: number,
  more: { subject?: string; attributes?: EventAttributes } = {},
) {
  const inputs = Array.from({ length: count }, (_, n) => ({
    ...order,
    data: { n, filling: "v".repeat(400) },
    ...more,
  }));
  const outcomes = await hooks.publishMany(inputs);
  return outcomes.map((outcome) => (outcome.ok ? outcome.result.id : "refused"));
}

function membersOf({ body }: ReceivedRequest) {
  const decoded = decodeBatch(body);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.problems));
  return decoded.value.map(({ event }) => event.id);
}

const batches = () => receiver.requests.map(membersOf);

/** Runs a replay to its end, and sends what it enqueued. */
async function replay(instance: TestInstance, input: ReplayInput): Promise<void> {
  const { replays } = instance.hooks;
  const { id } = await replays.start({ tenant: "acme", ...input });
  await eventually("the replay has ended", async () => {
    await instance.settle();
    return (await replays.get(id)).state === "finished";
  });
  await instance.settle();
}

test("a batch has at most its maximum of events; one more begins the next", async () => {
  const instance = await openBatch({ maxEvents: 3 });
  const ids = await publish(instance, 4);
  await instance.settle();
  expect(batches()).toEqual([ids.slice(0, 3)]);
  const more = await publish(instance, 2);
  await instance.settle();
  expect(batches()).toEqual([ids.slice(0, 3), [ids[3], ...more]]);
  const [first] = receiver.requests;
  expect(first?.headers).toMatchObject({
    "content-type": "application/cloudevents-batch+json; charset=utf-8",
    "x-webhook-event": "webhook.batch",
  });
});

test("a batch is sent when its first event has waited for the maximum delay", async () => {
  const instance = await openBatch({});
  const [first] = await publish(instance, 1);
  await instance.advance(HOUR_MS / 2);
  const [second] = await publish(instance, 1);
  await instance.advance(HOUR_MS / 2 - 60_000);
  await instance.settle();
  expect(batches()).toEqual([]);
  await instance.advance(60_000);
  await instance.settle();
  expect(batches()).toEqual([[first, second]]);
});

test("a batch's body has at most its maximum of bytes", async () => {
  const probe = await openBatch({ maxEvents: 1 });
  await publish(probe, 1);
  await probe.settle();
  const member = (receiver.requests[0]?.body.length ?? 0) - batchBytes([0]);
  const three = batchBytes([member, member, member]);
  await probe.hooks.endpoints.update("acme", probe.endpointId, {
    batch: { maxBytes: three, maxDelayMs: HOUR_MS },
  });
  const fit = await publish(probe, 3);
  await probe.settle();
  expect(batches().slice(1)).toEqual([fit]);
  expect(receiver.requests[1]?.body.length).toBe(three);

  await probe.hooks.endpoints.update("acme", probe.endpointId, {
    batch: { maxBytes: three - 1, maxDelayMs: HOUR_MS },
  });
  const tooMany = await publish(probe, 3);
  await probe.settle();
  expect(batches().slice(2)).toEqual([tooMany.slice(0, 2)]);
  await probe.advance(HOUR_MS);
  await probe.settle();
  expect(batches().slice(3)).toEqual([tooMany.slice(2)]);
});

test("an event larger than the maximum batch is sent alone", async () => {
  const instance = await openBatch({ maxBytes: 1_024 });
  const { id } = await instance.hooks.publish({ ...order, data: "v".repeat(2_000) });
  await instance.settle();
  expect(batches()).toEqual([[id]]);
});

test("retries of a batch have the same bytes and ids, even if the endpoint's settings change", async () => {
  receiver.answer("/in", [500, 500, 200]);
  const instance = await openBatch({ maxEvents: 2 });
  const ids = await publish(instance, 2);
  await instance.settle();
  await instance.advance(70_000);
  await instance.settle();
  await instance.hooks.endpoints.update("acme", instance.endpointId, {
    format: "envelope",
    batch: { maxEvents: 1 },
  });
  await instance.advance(70_000);
  await instance.settle();
  expect(batches()).toEqual([ids, ids, ids]);
  const seen = receiver.requests.map(({ headers, body }) => [
    headers["webhook-id"],
    headers["x-webhook-delivery-id"],
    headers["content-type"],
    body.toString(),
  ]);
  expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(receiver.requests.map(({ headers }) => headers["x-webhook-attempt"])).toEqual(["1", "2", "3"]);
});

test("an event shows its batch, and a batch's delivery shows its events", async () => {
  const instance = await openBatch({ maxEvents: 2 });
  const { hooks, endpointId } = instance;
  const published = await hooks.publish({ ...order, data: 1 });
  expect(published.deliveries).toBe(1);
  expect(await hooks.events.get(published.id)).toMatchObject({
    deliveries: [],
    notMatched: [],
    batches: [{ endpointId, eventId: null, deliveryId: null }],
  });
  const [second] = await publish(instance, 1);
  await instance.settle();
  const detail = await hooks.events.get(published.id);
  const [batch] = detail.batches;
  expect(detail.deliveries).toMatchObject([
    { id: batch?.deliveryId, eventId: batch?.eventId, state: "success" },
  ]);
  expect(detail.notMatched).toEqual([]);
  const delivery = await hooks.deliveries.get(batch?.deliveryId as string);
  expect(delivery).toMatchObject({
    eventType: "webhook.batch",
    members: [published.id, second],
    attemptCount: 1,
  });
  expect((await hooks.events.get(batch?.eventId as string)).type).toBe("webhook.batch");
  const request = await hooks.deliveries.request(batch?.deliveryId as string);
  expect(request.body).toEqual(receiver.requests[0]?.body);
});

test("a manual retry sends the whole batch, and a resent member goes in a new one", async () => {
  const instance = await openBatch({ maxEvents: 2, maxDelayMs: 60_000 });
  const { hooks, endpointId } = instance;
  const ids = await publish(instance, 2);
  await instance.settle();
  const [batch] = (await hooks.events.get(ids[0] as string)).batches;
  await hooks.deliveries.retry(batch?.deliveryId as string);
  await instance.settle();
  expect(batches()).toEqual([ids, ids]);

  expect(await hooks.events.resend(ids[1] as string, endpointId)).toEqual({ deliveryId: null });
  await hooks.events.resend(ids[1] as string, endpointId); // waits already
  await instance.advance(60_000);
  await instance.settle();
  expect(batches()).toEqual([ids, ids, [ids[1]]]);
  const sent = await hooks.events.get(ids[1] as string);
  expect(sent.batches.map(({ eventId }) => eventId)).toEqual([
    batch?.eventId,
    expect.stringMatching(/^evt_/),
  ]);
  expect(sent.deliveries).toHaveLength(2);
});

test("a replay resends a batch unchanged; a replay of missed events batches each once, and none that was in a batch", async () => {
  const instance = await openBatch({ maxEvents: 2 });
  const { hooks } = instance;
  const ids = await publish(instance, 2);
  await instance.settle();
  await replay(instance, { states: ["success"] });
  expect(batches()).toEqual([ids, ids]);
  const url = `${receiver.url}/new`;
  const batch = { maxEvents: 2, maxDelayMs: 60_000 };
  await hooks.endpoints.create("acme", { url, events: ["*"], format: "cloudevents-batch", batch });
  for (let again = 0; again < 2; again += 1) {
    await replay(instance, { resubscribe: true });
    await instance.advance(60_000);
    await instance.settle();
  }
  expect(receiver.requestsTo("/new").map(membersOf)).toEqual([ids]);
  expect(receiver.requestsTo("/in")).toHaveLength(2);

  await hooks.endpoints.update("acme", instance.endpointId, { format: "envelope" });
  await replay(instance, { resubscribe: true });
  expect(receiver.requestsTo("/in")).toHaveLength(2);
});

test("events of transactions, of subjects and with attributes are collected too, each subject in its order", async () => {
  const instance = await openBatch({ maxEvents: 6 });
  const { hooks } = instance;
  await inTransaction(world.pool, (tx) => hooks.publish({ ...order, data: 1, subject: "s" }, { tx }));
  await instance.settle();
  await publish(instance, 4, { subject: "s" });
  await publish(instance, 1, { attributes: { id: "own", source: "/shop", extensions: { x: 1 } } });
  await instance.settle();
  const [body] = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  expect(body.map(({ sequence }: { sequence?: string }) => sequence)).toEqual([
    "1",
    "2",
    "3",
    "4",
    "5",
    undefined,
  ]);
  expect(body[5]).toMatchObject({ id: "own", source: "/shop", x: 1 });
});

test("fifo cannot be combined with batches; without them, waiting events are sent singly and in order", async () => {
  const instance = await openBatch({});
  const ids = await publish(instance, 4, { subject: "s" });
  await expect(
    instance.hooks.endpoints.update("acme", instance.endpointId, { ordering: "fifo" }),
  ).rejects.toMatchObject({ code: "invalid_endpoint", problems: [{ pointer: "/ordering" }] });
  await instance.hooks.endpoints.update("acme", instance.endpointId, {
    format: "envelope",
    ordering: "fifo",
  });
  await instance.settle();
  expect(receiver.requests.map(({ body }) => JSON.parse(body.toString()).id)).toEqual(ids);
  expect((await instance.hooks.events.get(ids[0] as string)).deliveries).toHaveLength(1);
});

test("a disabled endpoint gets its batches when it is enabled, and a deleted one none", async () => {
  const instance = await openBatch({ maxEvents: 2 });
  const { hooks, endpointId } = instance;
  await hooks.endpoints.disable("acme", endpointId);
  const ids = await publish(instance, 2);
  await instance.settle();
  expect(batches()).toEqual([]);
  await hooks.endpoints.enable("acme", endpointId);
  await instance.settle();
  expect(batches()).toEqual([ids]);
  await publish(instance, 1);
  await hooks.endpoints.delete("acme", endpointId);
  await instance.settle();
  expect(batches()).toEqual([ids]);
  expect(await world.countStates()).toEqual({ success: 1, dead: 1 });
});

test("discarding the backlog also discards events that wait for a batch", async () => {
  const instance = await openBatch({ maxEvents: 3 });
  const { hooks, endpointId } = instance;
  await publish(instance, 1);
  await hooks.endpoints.disable("acme", endpointId);
  const last = (await publish(instance, 3))[2] as string;
  await hooks.endpoints.enable("acme", endpointId, { backlog: "discard" });
  const after = await publish(instance, 3);
  await instance.settle();
  expect(batches()).toEqual([after]);
  const { deliveries, batches: waiting } = await hooks.events.get(last);
  expect([deliveries.map(({ deadReason }) => deadReason), waiting]).toEqual([["discarded"], []]);
  await hooks.deliveries.retry(deliveries[0]?.id as string);
  await instance.settle();
  expect(batches()).toEqual([after, [last]]);
});

test("a process that only publishes builds full batches of its events", async () => {
  const api = await world.open({ started: false });
  await api.hooks.start({ role: "api" });
  await api.hooks.endpoints.create("acme", {
    url: `${receiver.url}/in`,
    events: ["*"],
    format: "cloudevents-batch",
    batch: { maxEvents: 2, maxDelayMs: HOUR_MS },
  });
  const [first] = await publish(api, 2);
  await api.hooks.engine?.runAllDue();
  const { batches: made } = await api.hooks.events.get(first as string);
  expect(made).toEqual([expect.objectContaining({ eventId: expect.stringMatching(/^evt_/) })]);
});

test("a duplicate is not collected, in one statement with the first or later", async () => {
  const instance = await openBatch({ maxEvents: 2 });
  const keyed = { ...order, data: 1, idempotencyKey: "k" };
  const [first] = await instance.hooks.publishMany([keyed, keyed]);
  await instance.hooks.publish(keyed);
  await instance.settle();
  expect(batches()).toEqual([]);
  const [second] = await publish(instance, 1, { subject: "s" });
  await instance.settle();
  expect(batches()).toEqual([[first?.ok && first.result.id, second]]);
});

test("two concurrent workers build full batches and leave the rest waiting", async () => {
  const instance = await openBatch({ maxEvents: 5 });
  const other = await world.open();
  await instance.hooks.endpoints.update("acme", instance.endpointId, { isActive: false });
  const ids = await publish(instance, 22);
  await Promise.all([instance.settle(), other.settle(), instance.settle(), other.settle()]);
  await instance.hooks.endpoints.update("acme", instance.endpointId, { isActive: true });
  await Promise.all([instance.settle(), other.settle()]);
  expect(batches().map(({ length }) => length)).toEqual([5, 5, 5, 5]);
  expect(batches().flat().toSorted()).toEqual(ids.slice(0, 20).toSorted());
});

test("redacted paths of an event are redacted in its batch", async () => {
  const instance = await openBatch({ maxEvents: 1 });
  const { hooks } = instance;
  await hooks.eventTypes.put("order.paid", { redact: ["/card"] });
  const { id } = await hooks.publish({ ...order, data: { card: "a card number", total: 1 } });
  await instance.settle();
  expect(receiver.requests[0]?.body.toString()).toContain("a card number");
  const [batch] = (await hooks.events.get(id)).batches;
  const shown = await hooks.events.get(batch?.eventId as string, { redacted: true });
  expect(JSON.parse(shown.payload.toString())).toMatchObject([
    { id, data: { card: "[redacted]", total: 1 } },
  ]);
  const request = await hooks.deliveries.request(batch?.deliveryId as string, { redacted: true });
  expect(request.body.toString()).not.toContain("a card number");
  const text = { datacontenttype: "text/plain", encoding: "text" } as const;
  await hooks.eventTypes.put("note.made", { redact: ["/card"] });
  const note = await hooks.publish({
    tenant: "acme",
    type: "note.made",
    data: "a card number",
    attributes: text,
  });
  expect((await hooks.events.get(note.id, { redacted: true })).payload.toString()).toBe('"[redacted]"');
});
