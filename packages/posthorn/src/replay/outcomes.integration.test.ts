// What became of the deliveries of a replay: while they are retried, sent again otherwise, and after history was dropped.
import { uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  publishTimes,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { openResources, rowsRead } from "../../../../tests/support/database/resources.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { findReplay } from "../storage/queries/replays/replays.ts";
import type { ScriptedStep, TestInstance } from "../testing/index.ts";
import type { ReplayInput } from "./replays.ts";

const receiver = await receiverPerFile();
const world = databasePerTest({ retryPolicy: "1m,1m" });
const paid = { tenant: "acme", type: "order.paid", data: 1 };
const DAY_MS = 86_400_000;
const NONE = { delivered: 0, failed: 0, dead: 0, waiting: 0, replayedAgain: 0, inBatches: 0 };

async function open(options = {}) {
  const instance = await world.open(options);
  const { hooks, settle } = instance;
  /** Dead deliveries of a new endpoint, whose receiver gives these answers from now on. */
  const deadOnes = async (count: number, ...answers: readonly ScriptedStep[]) => {
    const endpoint = await newEndpoint(instance, receiver);
    receiver.answer(endpoint.path, 400);
    await publishTimes(instance, count, paid);
    await settle();
    receiver.answer(endpoint.path, answers);
    return endpoint;
  };
  const start = async (input: ReplayInput = {}) => {
    const { id } = await hooks.replays.start({ rate: 1_000, ...input });
    await eventually("the replay has ended", async () => {
      await settle();
      return (await hooks.replays.get(id)).state === "finished";
    });
    await settle();
    return id;
  };
  const outcomesOf = async (id: string) => (await hooks.replays.get(id)).outcomes;
  const deliveriesIn = async (state: "dead" | "failed" | "success" | "pending") =>
    (await hooks.deliveries.list({ tenant: "acme", state })).data;
  return { ...instance, deadOnes, start, outcomesOf, deliveriesIn };
}

async function retryAll({ hooks, settle }: TestInstance, ids: readonly { id: string }[]) {
  for (const { id } of ids) await hooks.deliveries.retry(id);
  await settle();
}

test("a finished replay counts what was delivered, failed, is dead and waits, and follows the retries", async () => {
  const { deadOnes, start, outcomesOf, hooks, settle, advance } = await open({ circuitFailures: 0 });
  const mixed = await deadOnes(4, 200, 500, 400, 500);
  const id = await start({ endpoint: mixed.id });
  expect(await hooks.replays.get(id)).toMatchObject({ state: "finished", done: 4 });
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 1, failed: 2, dead: 1 });
  receiver.answer(mixed.path, [200, 500]);
  await advance(90_000);
  await settle();
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 2, failed: 1, dead: 1 });
  receiver.answer(mixed.path, 500);
  await advance(90_000);
  await settle();
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 2, dead: 2 });
  expect((await hooks.replays.list()).data[0]?.outcomes).toEqual(await outcomesOf(id));
});

test("deliveries behind an open circuit wait, although the replay is finished", async () => {
  const { deadOnes, start, outcomesOf } = await open({ circuitFailures: 1, circuitPauseMs: 3_600_000 });
  const { id: endpoint } = await deadOnes(5, 500);
  expect(await outcomesOf(await start({ endpoint }))).toEqual({ ...NONE, waiting: 5 });
});

test("a manual retry of a delivery that died again moves it from dead to delivered", async () => {
  const all = await open();
  const { deadOnes, start, outcomesOf, deliveriesIn } = all;
  const { path } = await deadOnes(2, 400);
  const id = await start();
  expect(await outcomesOf(id)).toEqual({ ...NONE, dead: 2 });
  receiver.answer(path, 200);
  await retryAll(all, (await deliveriesIn("dead")).slice(0, 1));
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 1, dead: 1 });
});

test("a manual retry before the next attempt makes a failed delivery wait again", async () => {
  const { deadOnes, start, outcomesOf, deliveriesIn, hooks } = await open();
  const { path } = await deadOnes(1, 500);
  const id = await start();
  expect(await outcomesOf(id)).toEqual({ ...NONE, failed: 1 });
  receiver.answer(path, "hang");
  await hooks.deliveries.retry((await deliveriesIn("failed"))[0]?.id ?? "");
  expect(await outcomesOf(id)).toEqual({ ...NONE, waiting: 1 });
});

test("a later replay counts the deliveries that it queues again", async () => {
  const { deadOnes, start, outcomesOf } = await open();
  const { path } = await deadOnes(3, 400, 500, 200);
  const first = await start();
  expect(await outcomesOf(first)).toEqual({ ...NONE, dead: 1, failed: 1, delivered: 1 });
  receiver.answer(path, 200);
  const second = await start({ states: ["dead", "failed"] });
  expect(await outcomesOf(first)).toEqual({ ...NONE, delivered: 1, replayedAgain: 2 });
  expect(await outcomesOf(second)).toEqual({ ...NONE, delivered: 2 });
});

test("a cancelled delivery is dead, and a deleted dead letter stays counted", async () => {
  const { deadOnes, start, outcomesOf, deliveriesIn, hooks } = await open();
  await deadOnes(2, 500, 400);
  const id = await start();
  expect(await outcomesOf(id)).toEqual({ ...NONE, failed: 1, dead: 1 });
  for (const { id: failed } of await deliveriesIn("failed")) await hooks.deliveries.cancel(failed);
  expect(await outcomesOf(id)).toEqual({ ...NONE, dead: 2 });
  for (const { id: dead } of await deliveriesIn("dead")) await hooks.deliveries.delete(dead);
  expect(await deliveriesIn("dead")).toEqual([]);
  expect(await outcomesOf(id)).toEqual({ ...NONE, dead: 2 });
});

test("outcomes stay when retention has dropped the deliveries, and are dropped with the replay", async () => {
  const { deadOnes, start, outcomesOf, deliveriesIn, hooks, advance } = await open({ retentionDays: 7 });
  await deadOnes(2, 200);
  await advance(6 * DAY_MS);
  const id = await start();
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 2 });
  await advance(3 * DAY_MS);
  await hooks.engine?.maintenance.runNow();
  expect(await deliveriesIn("success")).toEqual([]);
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 2 });
  await advance(8 * DAY_MS);
  await hooks.engine?.maintenance.runNow();
  const { rows } = await world.pool.query(
    "select (select count(*) from posthorn.replay_outcomes)::integer as o, (select count(*) from posthorn.replayed_deliveries)::integer as d",
  );
  expect(rows).toEqual([{ o: 0, d: 0 }]);
});

test("missing deliveries that a replay creates are counted, and those that are added to a batch", async () => {
  const { start, outcomesOf, hooks, ...rest } = await open();
  const instance = { hooks, ...rest };
  await publishTimes(instance, 3, paid);
  const { path, id: endpoint } = await newEndpoint(instance, receiver);
  receiver.answer(path, [200, 500, 400]);
  const id = await start({ endpoint, resubscribe: true });
  expect(await outcomesOf(id)).toEqual({ ...NONE, delivered: 1, failed: 1, dead: 1 });
  const batched = await newEndpoint(instance, receiver, { format: "cloudevents-batch" });
  receiver.answer(batched.path, 200);
  const later = await start({ endpoint: batched.id, resubscribe: true });
  expect(await outcomesOf(later)).toEqual({ ...NONE, inBatches: 3 });
});

test("a delivery that was not replayed changes no outcome", async () => {
  const { deadOnes, hooks, settle } = await open();
  await deadOnes(1, 200);
  await hooks.publish(paid);
  await settle();
  expect(await world.countRows("replay_outcomes", "replayed_deliveries")).toEqual([0, 0]);
});

test("reading a replay of 100,000 deliveries reads one row per database session, and none of its deliveries", async () => {
  const { db, pool } = await openResources();
  const id = uuidv7();
  await pool.query(
    `insert into posthorn.replays (id, rate, position, before, paced_at, done) values ($1, 50, $1, $1, now(), 100000)`,
    [id],
  );
  await pool.query(
    "insert into posthorn.replayed_deliveries select gen_random_uuid(), $1, 'waiting' from generate_series(1, 100000)",
    [id],
  );
  await pool.query(
    "insert into posthorn.replay_outcomes select $1, n, 10000, 0, 0, 0, 0 from generate_series(1, 10) n",
    [id],
  );
  await pool.query("analyze posthorn.replay_outcomes");
  for (const [table, most] of [
    ["replayed_deliveries", 0],
    ["queue", 0],
    ["deliveries", 0],
    ["replay_outcomes", 10],
  ] as const) {
    const read = await rowsRead(db, table, async (tx) => {
      expect((await findReplay(tx, id, null))?.outcomes.waiting).toBe(100_000);
    });
    expect([table, read]).toEqual([table, most]);
  }
});
