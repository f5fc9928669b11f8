// The record of received messages: what it contains in every mode, when it changes, and for how long it is kept.
import { PermanentFailure, type Store } from "@posthorn/receiver";
import {
  drizzleDatabase,
  knexDatabase,
  kyselyDatabase,
  type PostgresDatabase,
  postgresStore,
  prismaDatabase,
} from "@posthorn/receiver/postgres";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import { Kysely, PostgresDialect } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import { createPool } from "../../../../../tests/support/database/postgres.ts";
import {
  openPool,
  openPoolWith,
  openPostgres,
  type PostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { createPrismaClient } from "../../../../../tests/support/receiver/prisma-client.ts";
import { openHarness } from "../../../../../tests/support/receiver/receiver-harness.ts";
import { batchOf, signedDelivery } from "../../../../../tests/support/receiver/signed-delivery.ts";
import type { StoreWorld } from "../../../../../tests/support/receiver/store-world.ts";
import {
  DAY_MS,
  defaults,
  makeDone,
  messageWith,
  orderedWithoutWait,
  times,
} from "../../../../../tests/support/receiver/store-world.ts";

const HOURS_MS = 2 * 3_600_000;
const openRecording = openPostgres((at) => openPoolWith(at, {}, { historyDays: 7 }));
const openUsual = openPostgres(openPool);

storeSuite(
  "PostgreSQL with history",
  openPostgres((at) => openPoolWith(at, {}, { historyDays: 3_650 })),
  { transactions: true, processes: true },
  { index: 0, of: 4 },
);

async function historyOf({ pool }: Pick<PostgresWorld<unknown>, "pool">) {
  const { rows } = await pool.query(
    // as text, because a Date has no microseconds
    `select source, id, type, attempts, convert_from(payload, 'UTF8') as payload, received_at,
            processed_at::text, processed_at >= received_at as processed
     from posthorn_receiver.history
     order by id`,
  );
  return rows;
}

describe.each(["transactional", "lease", "inbox"] as const)("in mode %s", (mode) => {
  async function openMode() {
    const world = await openRecording();
    const harness = openHarness(world as StoreWorld, mode);
    onTestFinished(() => harness.close());
    return { world, harness, record: () => historyOf(world) };
  }

  test("a handled event is recorded once with its payload, and duplicates change nothing", async () => {
    const { harness, record } = await openMode();
    const delivery = await signedDelivery({ id: "msg_1" });
    await harness.send(delivery);
    await harness.untilDone(delivery);
    await expect.poll(record).toMatchObject([{ processed: true }]);
    const first = await record();
    expect(first).toMatchObject([
      {
        source: "standard-webhooks",
        id: "msg_1",
        type: "order.paid",
        attempts: 1,
        payload: new TextDecoder().decode(delivery.body),
      },
    ]);
    await harness.send(delivery);
    expect(await record()).toEqual(first);
  });

  test("a failing event is recorded as not processed, then with the attempt that succeeded", async () => {
    const { world, harness, record } = await openMode();
    const delivery = await signedDelivery({ id: "msg_1" });
    harness.work = () => {
      if (harness.calls("msg_1") === 1) throw new Error("shop closed");
    };
    // in the inbox it waits until the clock is moved
    const retries = { firstDelayMs: HOURS_MS / 2, maxDelayMs: HOURS_MS / 2 };
    await harness.send(delivery, await harness.receiver({ retries }));
    await expect.poll(record).toMatchObject([{ attempts: 1, processed_at: null }]);
    const [{ received_at: receivedAt }] = await record();
    if (mode === "inbox") await world.makeOlder(HOURS_MS);
    else await harness.send(delivery);
    await harness.untilDone(delivery);
    await expect.poll(record).toMatchObject([{ attempts: 2, processed: true }]);
    if (mode !== "inbox") expect(await record()).toMatchObject([{ received_at: receivedAt }]);
  });

  test("a dead letter is recorded as not processed until its replay succeeds", async () => {
    const { harness, record } = await openMode();
    const receiver = await harness.receiver();
    harness.work = ({ id }) => {
      if (harness.calls(id) === 1) throw new PermanentFailure("no such product");
    };
    for (const id of ["msg_1", "msg_2"]) await harness.send({ id }, receiver);
    await expect.poll(() => receiver.deadLetters.count()).toBe(2);
    const source = "standard-webhooks";
    // skipped: the inbox claimed it first
    expect(["done", "skipped"]).toContain(await receiver.deadLetters.replay({ source, id: "msg_1" }));
    expect(await receiver.deadLetters.discard({ source, id: "msg_2" })).toBe(true);
    await expect.poll(record).toMatchObject([
      { id: "msg_1", attempts: 2, processed: true },
      { id: "msg_2", attempts: 1, processed_at: null },
    ]);
  });

  test("each event of a batch is recorded", async () => {
    const { harness, record } = await openMode();
    await harness.send(await batchOf("1", "2"));
    await expect.poll(record).toMatchObject([{ processed: true }, { processed: true }]);
  });
});

test("a stale message is recorded as not processed, in a transaction and under a lease", async () => {
  const world = await openRecording();
  const nth = (sequence: number, id: string) => messageWith({ id, subject: "order/1", sequence });
  await makeDone(world.store, nth(3, "evt_1"), orderedWithoutWait);
  const work = async () => {};
  expect(await world.transactions.run(nth(2, "evt_2"), orderedWithoutWait, work)).toEqual({ kind: "stale" });
  expect(await world.store.claim(nth(1, "evt_3"), orderedWithoutWait)).toEqual({ kind: "stale" });
  expect(await historyOf(world)).toMatchObject([
    { id: "evt_1", processed: true },
    { id: "evt_2", attempts: 0, processed_at: null },
    { id: "evt_3", attempts: 0, processed_at: null },
  ]);
});

test("the record commits with the handler's writes: without them it says that nothing was processed", async () => {
  const world = await openRecording();
  const harness = openHarness(world as StoreWorld, "transactional");
  onTestFinished(() => harness.close());
  harness.work = (_, { tx }) => world.effects.breakCommit(tx as never);
  expect((await harness.send({ id: "msg_1" })).status).toBe(500);
  expect(await historyOf(world)).toMatchObject([{ attempts: 1, processed_at: null }]);
});

test("an event that was received again after the window keeps its first receipt", async () => {
  const world = await openRecording();
  const message = messageWith();
  await makeDone(world.store, message);
  const [first] = await historyOf(world);
  await world.pool.query("update posthorn_receiver.messages set since = since - interval '31 days'");
  await makeDone(world.store, message);
  const [{ received_at: receivedAt, processed_at: processedAt, attempts }] = await historyOf(world);
  expect([receivedAt, attempts]).toEqual([first.received_at, 2]);
  expect(processedAt > first.processed_at).toBe(true);
});

test("a body that is not text is recorded byte for byte", async () => {
  const world = await openRecording();
  const message = messageWith();
  const body = Uint8Array.from(times(256, (byte) => byte));
  await world.transactions.run({ ...message, body }, defaults, async () => {});
  const { rows } = await world.pool.query("select payload from posthorn_receiver.history");
  expect(new Uint8Array(rows[0].payload)).toEqual(body);
});

test("the record is deleted after its days, whatever the window", async () => {
  const world = await openRecording();
  await makeDone(world.store, messageWith({ id: "evt_1" }));
  await world.makeOlder(7 * DAY_MS - HOURS_MS);
  await makeDone(world.store, messageWith({ id: "evt_2" }));
  expect(await world.store.prune(10, defaults)).toBe(0);
  await world.makeOlder(HOURS_MS);
  expect(await world.store.prune(10, defaults)).toBe(1);
  expect(await historyOf(world)).toMatchObject([{ id: "evt_2" }]);
  expect((await world.store.claim(messageWith({ id: "evt_1" }), defaults)).kind).toBe("done");
});

test("without the option nothing is recorded", async () => {
  const world = await openUsual();
  await makeDone(world.store, messageWith());
  await world.transactions.run(messageWith(), defaults, async () => {});
  await world.store.accept(messageWith(), defaults);
  expect(await historyOf(world)).toEqual([]);
});

describe("through another library", () => {
  type Open = (at: string) => { database: PostgresDatabase<unknown>; close: () => Promise<unknown> };
  test.each<[name: string, open: Open]>([
    [
      "Drizzle",
      (at) => {
        const pool = createPool(at);
        return { database: drizzleDatabase(drizzle(pool), sql), close: () => pool.end() };
      },
    ],
    [
      "Kysely",
      (at) => {
        const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: createPool(at) }) });
        return { database: kyselyDatabase(db) as PostgresDatabase<unknown>, close: () => db.destroy() };
      },
    ],
    [
      "Knex",
      (at) => {
        const db = knex({ client: "pg", connection: at });
        return { database: knexDatabase(db) as PostgresDatabase<unknown>, close: () => db.destroy() };
      },
    ],
    [
      "Prisma",
      (at) => {
        const prisma = createPrismaClient(at);
        return { database: prismaDatabase(prisma), close: () => prisma.$disconnect() };
      },
    ],
  ])("%s, messages are recorded in a transaction and from the inbox", async (_, openLibrary) => {
    const world = await openRecording();
    const { database, close } = openLibrary(world.connectionString);
    onTestFinished(async () => void (await close()));
    const store: Store<unknown> = postgresStore(database, { historyDays: 7 });
    const [first, second] = [messageWith({ id: "evt_1" }), messageWith({ id: "evt_2" })];
    await store.transactions?.run(first, defaults, async () => {});
    await store.accept(second, defaults);
    expect(await historyOf(world)).toMatchObject([
      { id: "evt_1", processed: true },
      { id: "evt_2", processed_at: null },
    ]);
    const claim = await store.claimOne(second, defaults);
    expect(claim !== null && (await store.complete(claim))).toBe(true);
    expect(await historyOf(world)).toMatchObject([{ processed: true }, { processed: true, attempts: 1 }]);
  });
});
