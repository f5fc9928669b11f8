// Events that others commit in their own transactions, while nothing polls.
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishBySql,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { commonChannel } from "../storage/queries/workers/hints.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();
const event = { tenant: "acme", type: "order.paid", data: 1 };

let endListening = () => {};
afterEach(() => endListening());

/** Counts what publishers notify of; a notification of its own marks the end. */
async function listen(schema = "posthorn") {
  const listener = await world.pool.connect();
  endListening = () => listener.release(true);
  const channel = commonChannel(schema);
  await listener.query(`listen "${channel}"`);
  let count = 0;
  listener.on("notification", ({ payload }) => {
    if (payload === "outbox") count += 1;
    else listener.emit("end of count");
  });
  return async () => {
    const ended = once(listener, "end of count");
    await listener.query("select pg_notify($1, 'end')", [channel]);
    await ended;
    return count;
  };
}

test("wakes at the commit of another process, without a poll", async () => {
  const instance = await world.open();
  await instance.hooks.engine?.poller.stop();
  const { path } = await newEndpoint(instance, receiver);
  const { hooks: publisher } = await world.open({ started: false });
  await inTransaction(world.pool, (tx) => publisher.publish(event, { tx }));
  await receiver.received(1, { path });
  await publishBySql(world.pool, event);
  await receiver.received(2, { path });
});

test("wakes in a schema of another name", async () => {
  const instance = await world.open({ schema: "hooks-2" });
  await instance.hooks.engine?.poller.stop();
  const { path } = await newEndpoint(instance, receiver);
  await world.pool.query(
    `select "hooks-2".publish(tenant => 'acme', type => 'order.paid', data => '1'::text)`,
  );
  await receiver.received(1, { path });
});

test("delivers without notifications, by polling", async () => {
  const instance = await world.open();
  const { path } = await newEndpoint(instance, receiver);
  const tx = await world.pool.connect();
  await tx.query("set posthorn_outbox.notify = off");
  await tx.query(`select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1'::text)`);
  tx.release(true);
  await receiver.received(1, { path });
});

test("a transaction notifies once, at its commit, unless it is told not to", async () => {
  await world.open({ started: false });
  const notifications = await listen();
  await inTransaction(world.pool, async (tx) => {
    for (let n = 0; n < 3; n += 1)
      await tx.query(`select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1'::text)`);
    expect(await notifications()).toBe(0);
  });
  expect(await notifications()).toBe(1);
  await inTransaction(world.pool, async (tx) => {
    await tx.query("set local posthorn_outbox.notify = off");
    await tx.query(`select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1'::text)`);
  });
  expect(await notifications()).toBe(1);
});

test("nobody notifies while a worker watches the outbox, also if the watch began after the publish", async () => {
  await world.open({ started: false });
  const notifications = await listen();
  await inTransaction(world.pool, async (tx) => {
    await tx.query(`select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1'::text)`);
    await world.pool.query(
      "update posthorn.outbox_watch set ends_at = clock_timestamp() + interval '1 hour'",
    );
  });
  await publishBySql(world.pool, event);
  expect(await notifications()).toBe(0);
});

test("a worker that gets many notifications watches the outbox, and finds what follows", async () => {
  const instance = await world.open();
  await instance.hooks.engine?.poller.stop();
  const { path } = await newEndpoint(instance, receiver);
  const notifications = await listen();
  const isAnnounced = async () =>
    (await world.pool.query("select isfinite(ends_at) as is from posthorn.outbox_watch")).rows[0].is;
  expect(await isAnnounced()).toBe(false);
  // the watch does not end, however slow the machine is
  const frozen = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => frozen.mockRestore());
  // as if many publishers had committed in these milliseconds
  for (let n = 0; n <= 10; n += 1) instance.hooks.engine?.relay.notified();
  await instance.hooks.engine?.relay.runNow();
  expect(await isAnnounced()).toBe(true);
  await world.pool.query("update posthorn.outbox_watch set ends_at = clock_timestamp() + interval '1 hour'");
  await publishBySql(world.pool, event);
  expect(await notifications()).toBe(0);
  await receiver.received(1, { path });
});
