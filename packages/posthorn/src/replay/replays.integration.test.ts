// Replays from start to end: what is sent again, what is skipped, the rate and the end.
import { formatId, parseId } from "@posthorn/wire";
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction, lockWaits } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import { readReplay } from "../storage/queries/replays/advance.ts";
import type { TestInstance } from "../testing/index.ts";
import { planStep } from "./plan-step.ts";
import type { ReplayInput } from "./replays.ts";
import { runStep } from "./run-step.ts";

const receiver = await receiverPerFile();
const world = databasePerTest({ retryPolicy: "1m,1m" });
const { open } = world;
const paid = { tenant: "acme", type: "order.paid", data: 1 };

const endpointOf = (instance: TestInstance, input: Partial<EndpointInput> = {}) =>
  newEndpoint(instance, receiver, input);

/** Creates dead deliveries whose receiver accepts requests from now on. */
async function deadOnes(instance: TestInstance, count: number, input = paid) {
  const endpoint = await endpointOf(instance);
  receiver.answer(endpoint.path, 400);
  const events = await publishTimes(instance, count, input);
  await instance.settle();
  receiver.answer(endpoint.path, 200);
  return { ...endpoint, events };
}

async function replayed(instance: TestInstance, input: ReplayInput = {}) {
  const { id } = await instance.hooks.replays.start({ rate: 1_000, ...input });
  return await ended(instance, id);
}

async function ended(instance: TestInstance, id: string) {
  await eventually("the replay has ended", async () => {
    await instance.settle();
    return (await instance.hooks.replays.get(id)).state !== "running";
  });
  await instance.settle();
  return await instance.hooks.replays.get(id);
}

async function deliveriesOf(instance: TestInstance, endpoint: string) {
  const { data } = await instance.hooks.deliveries.list({ endpoint });
  return data.toReversed();
}

test("dead deliveries are sent again with the same event ids, counted, and their attempts have the trigger replay", async () => {
  const instance = await open();
  const { path, id, events } = await deadOnes(instance, 3);
  const replay = await replayed(instance, { tenant: "acme", requestedBy: "anna" });
  expect(replay).toMatchObject({ state: "finished", total: 3, done: 3, skipped: {}, requestedBy: "anna" });
  expect(replay.endedAt).toBeInstanceOf(Date);
  const sent = receiver.requestsTo(path).slice(3);
  expect(sent.map(({ headers }) => headers["webhook-id"]).toSorted()).toEqual(events.toSorted());
  for (const delivery of await deliveriesOf(instance, id)) {
    expect(delivery).toMatchObject({ state: "success", replayCount: 1, attemptCount: 2 });
    const { attempts } = await instance.hooks.deliveries.get(delivery.id);
    expect(attempts.map(({ trigger }) => trigger)).toEqual(["event", "replay"]);
  }
});

test("an event of the last millisecond that an id can have does not prevent replays", async () => {
  const instance = await open();
  await endpointOf(instance);
  await world.pool.query(
    `insert into posthorn.events (id, tenant, type, api_version, payload)
     values ('ffffffff-ffff-7fff-bfff-ffffffffffff', 'acme', 'order.paid', '1', '{}')`,
  );
  expect(await instance.hooks.replays.preview({ resubscribe: true })).toMatchObject({ isExact: true });
  expect(await replayed(instance, { resubscribe: true })).toMatchObject({ state: "finished" });
});

test("a replay of something other than an object is refused", async () => {
  const { hooks } = await open();
  for (const input of [null, "dead", 1] as never[]) {
    await expect(hooks.replays.start(input)).rejects.toMatchObject({ code: "invalid_replay" });
    await expect(hooks.replays.preview(input)).rejects.toMatchObject({ code: "invalid_replay" });
  }
});

test("a replayed delivery has a new retry schedule", async () => {
  const instance = await open();
  const endpoint = await endpointOf(instance);
  receiver.answer(endpoint.path, 500);
  await instance.hooks.publish(paid);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await instance.settle();
    await instance.advance(70_000);
  }
  expect(await deliveriesOf(instance, endpoint.id)).toMatchObject([{ state: "dead", attemptCount: 3 }]);
  await replayed(instance);
  expect(await deliveriesOf(instance, endpoint.id)).toMatchObject([{ state: "failed", attemptCount: 4 }]);
});

test("successful and failed deliveries are replayed only on request, failed ones before their next attempt", async () => {
  const instance = await open();
  const { path, id } = await endpointOf(instance);
  receiver.answer(path, [200, 500, 200]);
  for (let n = 0; n < 2; n += 1) {
    await instance.hooks.publish(paid);
    await instance.settle();
  }
  expect(await deliveriesOf(instance, id)).toMatchObject([{ state: "success" }, { state: "failed" }]);
  expect(await replayed(instance)).toMatchObject({ total: 0, done: 0, state: "finished" });
  expect(await replayed(instance, { states: ["failed"] })).toMatchObject({ total: 1, done: 1 });
  const counted = [{ replayCount: 0 }, { state: "success", replayCount: 1 }];
  expect(await deliveriesOf(instance, id)).toMatchObject(counted);
  expect(await replayed(instance, { states: ["success", "dead"] })).toMatchObject({ total: 2, done: 2 });
  expect(receiver.requestsTo(path)).toHaveLength(5);
});

test("pending deliveries and those in flight are not replayed", async () => {
  const instance = await open({ started: false });
  const { id } = await endpointOf(instance);
  await instance.hooks.start({ role: "api" });
  await publishTimes(instance, 2, paid);
  const all = { states: ["success", "failed", "dead"] as const };
  await world.pool.query(
    `with living as (
       insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
       values (now() + interval '1 hour', false, 'another') returning id
     )
     update posthorn.queue set claimed_by = (select id from living)
     where id = (select id from posthorn.queue limit 1)`,
  );
  expect((await deliveriesOf(instance, id)).map(({ state }) => state).toSorted()).toEqual([
    "in_flight",
    "pending",
  ]);
  expect(await instance.hooks.replays.preview(all)).toEqual({ count: 0, isExact: true });
});

test("each filter narrows it: endpoint, type, reason and time", async () => {
  const instance = await open();
  const early = await deadOnes(instance, 1);
  await instance.hooks.endpoints.update("acme", early.id, { events: ["nothing"] });
  const from = new Date(instance.hooks.clock.nowMs() + 1_000);
  await instance.advance(2_000);
  const late = await deadOnes(instance, 2, { ...paid, type: "order.sent" });
  const count = async (filter: ReplayInput) => (await instance.hooks.replays.preview(filter)).count;
  expect(await count({})).toBe(3);
  expect(await count({ endpoint: early.id })).toBe(1);
  expect(await count({ endpoint: late.id, tenant: "acme" })).toBe(2);
  expect(await count({ type: "order.sent" })).toBe(2);
  expect(await count({ reason: "rejected" })).toBe(3);
  expect(await count({ reason: "gone" })).toBe(0);
  expect(await count({ createdAfter: from })).toBe(2);
  expect(await count({ createdBefore: from })).toBe(1);
  expect(await replayed(instance, { createdAfter: from, type: "order.sent" })).toMatchObject({ done: 2 });
  expect(receiver.requestsTo(early.path)).toHaveLength(1);
});

test("deliveries that cannot be sent are unchanged, and the replay counts them by reason", async () => {
  const instance = await open();
  const { hooks } = instance;
  const disabled = await deadOnes(instance, 1);
  await hooks.endpoints.disable("acme", disabled.id);
  const deleted = await deadOnes(instance, 2);
  await hooks.endpoints.delete("acme", deleted.id);
  await hooks.tenants.upsert("asleep");
  const { endpoint } = await hooks.endpoints.create("asleep", {
    url: `${receiver.url}/asleep`,
    events: ["*"],
  });
  receiver.answer("/asleep", 400);
  await hooks.publish({ ...paid, tenant: "asleep" });
  await instance.settle();
  await hooks.tenants.upsert("asleep", { isActive: false });
  const before = await world.countStates();
  const replay = await replayed(instance);
  expect(replay).toMatchObject({
    state: "finished",
    done: 0,
    skipped: { endpoint_disabled: 1, endpoint_deleted: expect.any(Number), tenant_inactive: 1 },
  });
  expect(await world.countStates()).toEqual(before);
  expect(await deliveriesOf(instance, endpoint.id)).toMatchObject([{ state: "dead", replayCount: 0 }]);
});

test("a replay ends even if its deliveries become dead again: nothing is replayed twice", async () => {
  const instance = await open();
  const { path, id } = await deadOnes(instance, 5);
  receiver.answer(path, 400);
  expect(await replayed(instance)).toMatchObject({ state: "finished", done: 5 });
  expect(await deliveriesOf(instance, id)).toMatchObject(Array(5).fill({ state: "dead", replayCount: 1 }));
});

test("a replay does not exceed its rate", async () => {
  const instance = await open();
  await deadOnes(instance, 30);
  const { hooks } = instance;
  const startedAt = performance.now();
  const { id } = await hooks.replays.start({ rate: 1 });
  const doneAfter = async (advancedMs: number) => {
    await eventually("the replay goes on", async () => {
      await instance.settle();
      return (await hooks.replays.get(id)).done > advancedMs / 1_000;
    });
    const { done } = await hooks.replays.get(id);
    expect(done).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAt + advancedMs) / 1_000));
  };
  await doneAfter(0);
  await instance.advance(1_000);
  await doneAfter(1_000);
  // unused rate of a minute is not caught up
  await instance.advance(60_000);
  await instance.settle();
  const { done } = await hooks.replays.get(id);
  expect(done).toBeLessThanOrEqual(3 + Math.floor((performance.now() - startedAt) / 1_000));
});

test("a cancelled replay runs no further step, and its queued deliveries are sent", async () => {
  const instance = await open();
  const { path } = await deadOnes(instance, 40);
  const { hooks } = instance;
  const { id } = await hooks.replays.start({ rate: 1 });
  await eventually("the replay goes on", async () => {
    await instance.settle();
    return (await hooks.replays.get(id)).done > 0;
  });
  const cancelled = await hooks.replays.cancel(id);
  expect(cancelled.state).toBe("cancelled");
  // one per second
  expect(cancelled.done).toBeLessThan(40);
  await instance.advance(60_000);
  await instance.settle();
  const outcomes = { ...cancelled.outcomes, delivered: cancelled.done, waiting: 0 };
  expect(await hooks.replays.get(id)).toEqual({ ...cancelled, outcomes });
  expect(receiver.requestsTo(path)).toHaveLength(40 + cancelled.done);
  await expect(hooks.replays.cancel(id)).rejects.toMatchObject({ code: "replay_finished", status: 409 });
});

/** A replay of two dead deliveries with its first step planned but not run. */
async function planned() {
  const instance = await open();
  const { id } = await deadOnes(instance, 2);
  await instance.hooks.stop();
  const again = await open({ started: false });
  const { hooks } = again;
  const replay = await hooks.replays.start();
  const seen = await readReplay(hooks.db, parseId("rpl", replay.id) as string);
  if (seen === null) throw new Error("It is running.");
  const plan = await planStep(hooks.db, seen, { limit: 10, loadRoutes: async () => new Map() });
  return {
    hooks,
    replayId: replay.id,
    endpointId: id,
    deliveries: () => deliveriesOf(again, id),
    run: () => runStep(hooks.db, seen, plan),
  };
}

test("of two processes that both believe they are the leader, one runs the step", async () => {
  const { hooks, replayId, deliveries, run } = await planned();
  const results = await Promise.all([run(), run()]);
  expect(results.filter((result) => result !== null)).toHaveLength(1);
  expect(await hooks.replays.get(replayId)).toMatchObject({ done: 2, state: "finished" });
  expect(await deliveries()).toMatchObject(Array(2).fill({ state: "pending", replayCount: 1 }));
});

test("a delivery that is retried manually meanwhile is not sent twice", async () => {
  const { hooks, replayId, deliveries, run } = await planned();
  const [first] = await deliveries();
  await hooks.deliveries.retry(first?.id as string);
  await run();
  expect(await hooks.replays.get(replayId)).toMatchObject({ done: 1, skipped: { changed: 1 } });
  expect((await deliveries()).map(({ replayCount }) => replayCount)).toEqual([0, 1]);
});

test("a step that waited for the deletion of an endpoint reports the endpoint as deleted", async () => {
  const { hooks, replayId, endpointId, run } = await planned();
  const { step } = await inTransaction(world.pool, async (tx) => {
    const id = parseId("ep", endpointId);
    await tx.query("update posthorn.endpoints set deleted_at = posthorn.now() where id = $1", [id]);
    await tx.query("update posthorn.lanes set paused = true where endpoint_id = $1", [id]);
    const waiting = run();
    await lockWaits(world.pool);
    return { step: waiting };
  });
  await step;
  const { done, skipped } = await hooks.replays.get(replayId);
  expect({ done, skipped }).toEqual({ done: 0, skipped: { endpoint_deleted: 2 } });
});

test("a step planned before the replay was cancelled is not run", async () => {
  const { hooks, replayId, deliveries, run } = await planned();
  await hooks.replays.cancel(replayId);
  expect(await run()).toBeNull();
  expect(await deliveries()).toMatchObject(Array(2).fill({ state: "dead", replayCount: 0 }));
});

test("a fifo endpoint receives the replayed events of a subject in order", async () => {
  const instance = await open();
  const { path, id } = await endpointOf(instance, { ordering: "fifo", fifoOnDead: "hold" });
  receiver.answer(path, 400);
  const { hooks } = instance;
  await publishTimes(instance, 3, { ...paid, subject: "order-1" });
  await instance.settle();
  // the first is dead and holds the others
  expect(await world.countStates()).toEqual({ dead: 1, pending: 2 });
  receiver.answer(path, 200);
  expect(await replayed(instance, { endpoint: id })).toMatchObject({ done: 1 });
  expect(await replayed(instance, { endpoint: id, states: ["success"] })).toMatchObject({ done: 3 });
  const sequences = receiver.requestsTo(path).map(({ body }) => JSON.parse(body.toString()).sequence);
  expect(sequences).toEqual([1, 1, 2, 3, 1, 2, 3]);
  expect((await hooks.deliveries.list({ endpoint: id, state: "success" })).data).toHaveLength(3);
});

test("against current subscriptions, an endpoint receives earlier events once", async () => {
  const instance = await open();
  const { hooks } = instance;
  const old = await endpointOf(instance);
  await publishTimes(instance, 2, paid);
  await hooks.publish({ ...paid, type: "order.sent" });
  await instance.settle();
  const late = await endpointOf(instance, { events: ["order.paid"] });
  const asked = { tenant: "acme", resubscribe: true };
  expect(await hooks.replays.preview(asked)).toEqual({ count: 2, isExact: true });
  expect(await replayed(instance, asked)).toMatchObject({
    total: 2,
    done: 2,
    states: null,
    resubscribe: true,
  });
  expect(receiver.requestsTo(late.path)).toHaveLength(2);
  expect(receiver.requestsTo(old.path)).toHaveLength(3);
  expect(await deliveriesOf(instance, late.id)).toMatchObject(
    Array(2).fill({ state: "success", replayCount: 1, attemptCount: 1 }),
  );
  expect(await replayed(instance, asked)).toMatchObject({ total: 0, done: 0, state: "finished" });
});

test("against current subscriptions, a test event is not sent to other endpoints", async () => {
  const instance = await open();
  const { hooks } = instance;
  const tested = await endpointOf(instance);
  const other = await endpointOf(instance);
  await hooks.endpoints.test("acme", tested.id);
  const { eventId } = await hooks.endpoints.test("acme", tested.id, { type: "order.paid", data: 1 });
  await instance.settle();
  expect(await replayed(instance, { tenant: "acme", resubscribe: true })).toMatchObject({ total: 0 });
  expect(receiver.requestsTo(other.path)).toHaveLength(0);
  const { notMatched } = await hooks.events.get(eventId);
  expect(notMatched).toMatchObject([{ endpointId: other.id, reason: "test" }]);
});

test("against current subscriptions, a deleted dead letter is sent again, and its attempt numbers continue", async () => {
  const instance = await open();
  const { hooks } = instance;
  const { path, id } = await endpointOf(instance);
  receiver.answer(path, { status: 400 });
  await hooks.publish(paid);
  await instance.settle();
  const [dead] = await deliveriesOf(instance, id);
  await hooks.deliveries.delete(dead?.id as string);
  receiver.answer(path, 200);
  expect(await replayed(instance, { tenant: "acme", resubscribe: true })).toMatchObject({ done: 1 });
  const { state, attempts } = await hooks.deliveries.get(dead?.id as string);
  expect([state, attempts.map(({ number, trigger }) => [number, trigger])]).toEqual([
    "success",
    [
      [1, "event"],
      [2, "replay"],
    ],
  ]);
});

test("an event that waits for fan-out is not replayed", async () => {
  const instance = await open({ started: false });
  await endpointOf(instance);
  await instance.hooks.publish(paid);
  expect(await instance.hooks.replays.preview({ resubscribe: true })).toEqual({ count: 0, isExact: true });
});

test("missing deliveries are created only for the requested endpoint, its filter and the requested type", async () => {
  const instance = await open();
  for (const amount of [1, 200, 400]) await instance.hooks.publish({ ...paid, data: { amount } });
  await instance.hooks.publish({ ...paid, type: "order.sent", data: { amount: 500 } });
  const filter = { data: { amount: { $gte: 100 } } };
  const [wanted, other] = [await endpointOf(instance, { filter }), await endpointOf(instance)];
  const asked = { endpoint: wanted.id, type: "order.paid", resubscribe: true };
  expect(await instance.hooks.replays.preview(asked)).toEqual({ count: 2, isExact: true });
  expect(await replayed(instance, asked)).toMatchObject({ total: 2, done: 2 });
  expect(receiver.requestsTo(wanted.path)).toHaveLength(2);
  expect(receiver.requestsTo(other.path)).toHaveLength(0);
});

const refused: [what: string, input: ReplayInput, pointer: string][] = [
  ["a rate of nothing", { rate: 0 }, "/rate"],
  ["a rate above the highest", { rate: 5_001 }, "/rate"],
  ["a state that is on its way", { states: ["pending" as never] }, "/states"],
  ["no state", { states: [] }, "/states"],
  ["a reason of successes", { states: ["success"], reason: "gone" }, "/reason"],
  ["a reason that is none", { reason: "typo" as never }, "/reason"],
  ["states of events", { resubscribe: true, states: ["dead"] }, "/states"],
  ["a reason of events", { resubscribe: true, reason: "gone" }, "/reason"],
  ["a time that is none", { createdAfter: new Date("x") }, "/createdAfter"],
  ["a misspelt field", { tennant: "acme" } as never, "/tennant"],
  ["a name of 201 characters", { requestedBy: "x".repeat(201) }, "/requestedBy"],
];

test("an invalid replay is rejected with a pointer", async () => {
  const { hooks } = await open({ started: false });
  for (const [what, input, pointer] of refused) {
    await expect(hooks.replays.start(input), what).rejects.toMatchObject({
      code: "invalid_replay",
      problems: [{ pointer }],
    });
  }
  expect((await hooks.replays.list()).data).toEqual([]);
});

test("five replays run at a time per tenant and for all tenants; the sixth is rejected until one has ended", async () => {
  const { hooks } = await open({ started: false });
  for (const tenant of ["acme", undefined]) {
    const started = [];
    for (const rate of [1, 2, 3, 4, 5_000]) started.push(await hooks.replays.start({ tenant, rate }));
    await expect(hooks.replays.start({ tenant })).rejects.toMatchObject({ code: "replay_limit_reached" });
    await hooks.replays.cancel(started[0]?.id as string);
    await hooks.replays.start({ tenant });
  }
});

test("an unknown tenant or endpoint is an error, even if another tenant has it", async () => {
  const { hooks } = await open({ started: false });
  await hooks.tenants.upsert("other");
  const { endpoint } = await hooks.endpoints.create("other", { url: `${receiver.url}/x`, events: ["*"] });
  const none = formatId("ep", "0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10");
  await expect(hooks.replays.start({ tenant: "nobody" })).rejects.toMatchObject({ code: "tenant_not_found" });
  for (const input of [{ tenant: "acme", endpoint: endpoint.id }, { endpoint: none }])
    await expect(hooks.replays.start(input)).rejects.toMatchObject({ code: "endpoint_not_found" });
});

test("a tenant sees only its own replays", async () => {
  const { hooks } = await open({ started: false });
  await hooks.tenants.upsert("other");
  const ours = await hooks.replays.start({ tenant: "acme" });
  const theirs = await hooks.replays.start({ tenant: "other" });
  const wide = await hooks.replays.start();
  expect((await hooks.replays.list({ tenant: "acme" })).data).toEqual([ours]);
  expect((await hooks.replays.list({ limit: 2 })).data).toEqual([wide, theirs]);
  for (const { id } of [theirs, wide]) {
    await expect(hooks.replays.get(id, { tenant: "acme" })).rejects.toMatchObject({
      code: "replay_not_found",
    });
    await expect(hooks.replays.cancel(id, { tenant: "acme" })).rejects.toMatchObject({
      code: "replay_not_found",
    });
  }
  expect(await hooks.replays.get(ours.id, { tenant: "acme" })).toEqual(ours);
});
