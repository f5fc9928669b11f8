// Delivery turned off and on for all tenants, in one process and in several.
import { expect, test } from "vitest";
import { databasePerTest, receiverPerFile } from "../../../../../tests/support/database/database-per-test.ts";
import { lockWaits } from "../../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { gate } from "../../../../../tests/support/gate.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();

const publish = { tenant: "acme", type: "order.paid", data: {} };

async function openWithEndpoint(options: Parameters<typeof world.open>[0] = {}) {
  const instance = await world.open(options);
  const path = `/${crypto.randomUUID()}`;
  const input = { url: `${receiver.url}${path}`, events: ["*"] };
  const { endpoint } = await instance.hooks.endpoints.create("acme", input);
  return { ...instance, path, endpoint, received: () => receiver.requestsTo(path).length };
}

test("with hold, events wait with their reason, and are delivered when it ends", async () => {
  const { hooks, settle, received } = await openWithEndpoint();
  expect(await hooks.deliveryMode.get()).toEqual({
    mode: "on",
    source: "setting",
    setting: "on",
    since: null,
    changedBy: null,
    note: null,
    dropped: 0,
  });
  await hooks.deliveryMode.set({ mode: "hold", note: "receiver migration", changedBy: "anna" });
  await settle();
  const results = [await hooks.publish(publish), await hooks.publish(publish)];
  expect(results).toMatchObject([{ deliveries: 1 }, { deliveries: 1 }]);
  expect(results.some((result) => "dropped" in result)).toBe(false);
  await settle();
  expect(received()).toBe(0);
  const { deliveries } = await hooks.events.get(results[0]?.id ?? "");
  expect(deliveries).toMatchObject([
    { state: "pending", waitsFor: { reason: "sending_off", until: null }, nextRetryAt: null },
  ]);
  expect(await hooks.deliveryMode.get()).toMatchObject({
    mode: "hold",
    source: "stored",
    since: expect.any(Date),
    changedBy: "anna",
    note: "receiver migration",
  });
  await hooks.deliveryMode.set({ mode: "on" });
  await settle();
  expect(received()).toBe(2);
});

test("deliveries of a lane that is in use are released, and only attempts in flight end", async () => {
  const { hooks, path, endpoint } = await openWithEndpoint({ endpointConcurrency: 1 });
  const { opened, open: release } = gate();
  receiver.answer(path, [{ until: opened }, 200]);
  await Promise.all(Array.from({ length: 5 }, () => hooks.publish(publish)));
  await receiver.received(1, { path });
  await hooks.deliveryMode.set({ mode: "hold" });
  await eventually("four deliveries are released", async () => (await world.countStates()).pending === 4);
  expect(receiver.requestsTo(path)).toHaveLength(1);
  expect((await hooks.deliveries.list({ endpoint: endpoint.id, state: "pending" })).data).toHaveLength(4);
  release();
  await eventually("the attempt in flight ends", async () => (await world.countStates()).success === 1);
  expect(receiver.requestsTo(path)).toHaveLength(1);
  await hooks.deliveryMode.set({ mode: "on" });
  await receiver.received(5, { path });
});

test("with drop, events are stored and counted, say so, and are never delivered", async () => {
  const { hooks, settle, received } = await openWithEndpoint();
  await hooks.deliveryMode.set({ mode: "hold" });
  await settle();
  await hooks.publish(publish);
  await hooks.deliveryMode.set({ mode: "drop" });
  await settle();
  const result = await hooks.publish(publish);
  expect(result).toMatchObject({ deliveries: 0, dropped: true });
  // without an endpoint nothing is dropped
  expect("dropped" in (await hooks.publish({ ...publish, tenant: "nobody" }))).toBe(false);
  await world.pool.query("select posthorn.publish('acme', 'order.paid', '1'::text)");
  await settle();
  expect((await hooks.events.get(result.id)).deliveries).toEqual([]);
  await eventually("both are counted", async () => (await hooks.deliveryMode.get()).dropped === 2);
  const metrics = await hooks.metrics();
  expect(metrics).toMatch(/^webhook_events_dropped_total 2$/m);
  expect(metrics).toMatch(/^webhook_delivery_off\{mode="drop"\} 1$/m);
  await hooks.deliveryMode.set({ mode: "on" });
  await settle();
  // the one that was held
  expect(received()).toBe(1);
  expect(await hooks.metrics()).toMatch(/^webhook_delivery_off\{mode="drop"\} 0$/m);
});

test("every process follows, those that only ingest too", async () => {
  const { hooks, settle, received } = await openWithEndpoint();
  const other = await world.open({ started: false });
  await other.hooks.start({ role: "api" });
  await other.hooks.deliveryMode.set({ mode: "hold" });
  await eventually("the worker holds", () => hooks.engine?.isSending === false);
  await other.hooks.publish(publish);
  await settle();
  expect(received()).toBe(0);
  await hooks.deliveryMode.set({ mode: "drop" });
  await eventually("the other drops", () => other.hooks.engine?.deliveryMode.mode === "drop");
  expect(await other.hooks.publish(publish)).toMatchObject({ dropped: true });
  await hooks.deliveryMode.set({ mode: "on" });
  await eventually("it is delivered", () => received() === 1);
});

test("no event that is published after drop has ended is dropped, in any process", async () => {
  const { hooks, received } = await openWithEndpoint();
  const other = await world.open({ started: false });
  await other.hooks.start({ role: "api" });
  const dropsEverywhere = () =>
    [hooks, other.hooks].every(({ engine }) => engine?.deliveryMode.mode === "drop");
  let kept = 0;
  // the other process reads the mode every few hundred milliseconds, so in most rounds it does not know of the change yet
  for (let lateRounds = 0; lateRounds < 3; ) {
    await hooks.deliveryMode.set({ mode: "drop" });
    await eventually("both drop", dropsEverywhere);
    // published meanwhile: dropped or not, as the result says
    const meanwhile = [1, 2, 3, 4].flatMap(() => [hooks.publish(publish), other.hooks.publish(publish)]);
    await hooks.deliveryMode.set({ mode: "on" });
    if (other.hooks.engine?.deliveryMode.mode === "drop") lateRounds += 1;
    const after = await Promise.all([other.hooks.publish(publish), hooks.publish(publish)]);
    for (const result of after) expect(result).toMatchObject({ deliveries: 1 });
    expect(after.some((result) => "dropped" in result)).toBe(false);
    const results = await Promise.all(meanwhile);
    kept += after.length + results.filter((result) => !("dropped" in result)).length;
    expect(results.filter((result) => "dropped" in result).every(({ deliveries }) => deliveries === 0)).toBe(
      true,
    );
  }
  await eventually("all are delivered", () => received() === kept);
});

test("a change waits until the events that are being dropped are stored", async () => {
  const { hooks } = await openWithEndpoint({ enabled: "drop" });
  const storing = await world.pool.connect();
  await storing.query("begin");
  // as a process that drops does
  await storing.query("lock table posthorn.delivery_modes in row share mode");
  const changed = hooks.deliveryMode.set({ mode: "on" });
  await lockWaits(world.pool);
  // nobody waits to read it
  expect(await hooks.deliveryMode.get()).toMatchObject({ mode: "drop" });
  await storing.query("commit");
  storing.release();
  expect(await changed).toMatchObject({ mode: "on" });
});

test("a stored mode wins over the setting at start, and null returns to it", async () => {
  const first = await openWithEndpoint();
  await first.hooks.deliveryMode.set({ mode: "hold" });
  await first.close();
  const second = await world.open({ enabled: true });
  await second.hooks.publish(publish);
  await second.settle();
  expect(first.received()).toBe(0);
  expect(await second.hooks.deliveryMode.set({ mode: null })).toMatchObject({
    mode: "on",
    source: "setting",
  });
  await second.settle();
  expect(first.received()).toBe(1);
  const third = await world.open({ enabled: "drop" });
  expect(await third.hooks.deliveryMode.get()).toMatchObject({
    mode: "drop",
    source: "setting",
    setting: "drop",
  });
  expect(await third.hooks.publish(publish)).toMatchObject({ dropped: true });
  expect(await third.hooks.deliveryMode.set({ mode: "on" })).toMatchObject({ mode: "on", source: "stored" });
});

test("a process that stops while delivery is held leaves nothing claimed, and its dropped events are counted", async () => {
  const { hooks, close } = await openWithEndpoint({ enabled: "drop" });
  await hooks.publish(publish);
  await close();
  const { rows } = await world.pool.query(
    "select sum(dropped)::integer as dropped from posthorn.delivery_modes",
  );
  expect(rows).toEqual([{ dropped: 1 }]);
});

test("the change is recorded, and a wrong one is refused with what is allowed", async () => {
  const { hooks } = await world.open({ actor: "deploy" });
  await hooks.deliveryMode.set({ mode: "hold", note: "n".repeat(500) });
  for (const [input, pointer] of [
    [{}, "/mode"],
    [{ mode: "off" }, "/mode"],
    [{ mode: "on", note: "n".repeat(501) }, "/note"],
    [{ mode: "on", changedBy: "n".repeat(201) }, "/changedBy"],
    [{ mode: "on", nota: "x" }, "/nota"],
  ] as const)
    await expect(hooks.deliveryMode.set(input as never)).rejects.toMatchObject({
      code: "invalid_delivery_mode",
      problems: [{ pointer }],
    });
  const { data } = await hooks.auditLog.list({ action: "deliveryMode.set" });
  expect(data).toHaveLength(6);
  expect(data.at(-1)).toMatchObject({ actorId: "deploy", status: 200, changes: { mode: "hold" } });
});
