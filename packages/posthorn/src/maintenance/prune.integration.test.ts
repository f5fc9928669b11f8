// Rows that are pruned one by one: idempotency keys, dead letters with their own retention period, deleted
// endpoints.
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { databasePerTest, receiverPerFile } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { silentLogger } from "../observe/log.ts";
import { beginEntry } from "../storage/queries/audit-log.ts";
import type { TestInstance } from "../testing/index.ts";
import { prune, type Retention } from "./prune.ts";

const dayMs = 86_400_000;

const receiver = await receiverPerFile();
const world = databasePerTest({ retentionDays: 3_650, idempotencyDays: 3_650, auditDays: 3_650 });

let instance: TestInstance;
let pool: pg.Pool;

// The instance's own maintenance keeps everything for years; the tests prune themselves.
beforeEach(async () => {
  pool = world.pool;
  instance = await world.open();
});

async function pruneNow(retention: Partial<Retention> = {}, mayContinue = () => true): Promise<void> {
  await prune({
    db: instance.hooks.db,
    logger: silentLogger,
    mayContinue,
    retentionDays: 3_650,
    deadRetentionDays: null,
    idempotencyDays: 3_650,
    auditDays: 3_650,
    ...retention,
  });
}

async function newEndpoint(status: number): Promise<string> {
  receiver.answer(`/prune-${status}`, { status });
  const url = `${receiver.url}/prune-${status}`;
  return (await instance.hooks.endpoints.create("acme", { url, events: ["*"] })).endpoint.id;
}

async function publish(): Promise<string> {
  const { id } = await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
  await instance.settle();
  return id;
}

test("an idempotency key is kept until its retention period ends", async () => {
  const input = { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "order-1" };
  const first = await instance.hooks.publish(input);
  await instance.advance(7 * dayMs - 60_000);
  await pruneNow({ idempotencyDays: 7 });
  expect(await instance.hooks.publish(input)).toMatchObject({ id: first.id, duplicate: true });

  await instance.advance(61_000);
  await pruneNow({ idempotencyDays: 7 });
  expect(await world.countRows("idempotency_keys")).toEqual([0]);
  const again = await instance.hooks.publish(input);
  expect(again.duplicate).toBe(false);
  expect(again.id).not.toBe(first.id);
});

/** Adds keys that are eight days old: "1", "2", and so on. */
async function addOldKeys(count: number): Promise<void> {
  await pool.query(
    `insert into posthorn.idempotency_keys (tenant, key, event_id, digest, created_at)
     select 'acme', n::text, gen_random_uuid(), '', posthorn.now() - interval '8 days' from generate_series(1, $1::int) n`,
    [count],
  );
}

test("keys beyond one step are all deleted, and no younger ones", async () => {
  await addOldKeys(10_001);
  await pool.query(`
    insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
    values ('acme', 'young', gen_random_uuid(), '')`);
  await pruneNow({ idempotencyDays: 7 });
  expect((await pool.query("select key from posthorn.idempotency_keys")).rows).toEqual([{ key: "young" }]);
});

test("a locked key is skipped", async () => {
  await addOldKeys(2);
  await inTransaction(pool, async (tx) => {
    await tx.query("select from posthorn.idempotency_keys where key = '1' for update");
    await pruneNow({ idempotencyDays: 7 });
  });
  expect((await pool.query("select key from posthorn.idempotency_keys")).rows).toEqual([{ key: "1" }]);
});

test("dead letters stay unless they have a retention period, which counts from their end", async () => {
  await newEndpoint(400);
  await publish();
  await instance.advance(400 * dayMs);
  await pruneNow();
  expect((await instance.hooks.deliveries.list({ state: "dead" })).data).toHaveLength(1);
  const { data } = await instance.hooks.deliveries.list({ state: "dead" });
  // dies again today
  await instance.hooks.deliveries.retry(data[0]?.id as string);
  await instance.settle();
  await instance.advance(10 * dayMs - 60_000);
  await pruneNow({ deadRetentionDays: 10 });
  expect((await instance.hooks.deliveries.list({ state: "dead" })).data).toHaveLength(1);
  await instance.advance(61_000);
  await pruneNow({ deadRetentionDays: 10 });
  expect((await instance.hooks.deliveries.list({ state: "dead" })).data).toEqual([]);
});

test("a dead letter that holds its subject stays beyond its retention period", async () => {
  receiver.answer("/prune-held", [{ status: 400 }, {}]);
  await instance.hooks.endpoints.create("acme", {
    url: `${receiver.url}/prune-held`,
    events: ["*"],
    ordering: "fifo",
    fifoOnDead: "hold",
  });
  const input = { tenant: "acme", type: "order.paid", data: 1, subject: "order-1" };
  for (let n = 0; n < 3; n += 1) await instance.hooks.publish(input);
  await instance.settle();
  await instance.advance(30 * dayMs);
  await pruneNow({ deadRetentionDays: 10 });
  const { data } = await instance.hooks.deliveries.list({ state: "dead" });
  expect(data).toHaveLength(1);
  await instance.hooks.deliveries.retry(data[0]?.id as string);
  await instance.settle();
  expect((await instance.hooks.deliveries.list({ state: "success" })).data).toHaveLength(3);
});

test("an expired dead letter is deleted with its payload and attempts when its day is over", async () => {
  await newEndpoint(400);
  await newEndpoint(200);
  await publish();
  await instance.advance(400 * dayMs);
  // the day has no partition: its rows are in the default one and are pruned one by one
  await pool.query(`
    do $$ declare p record; begin
      for p in select * from posthorn.history_partitions() where lower_bound < posthorn.lowest_uuid_at(posthorn.now() - interval '300 days') loop
        execute format('alter table posthorn.%I detach partition posthorn.%I', p.parent, p.name);
        execute format('insert into posthorn.%I select * from posthorn.%I', p.parent, p.name);
        execute format('drop table posthorn.%I', p.name);
      end loop;
    end $$`);
  await pruneNow({ retentionDays: 30 });
  expect(await world.countRows("deliveries", "attempts", "events")).toEqual([1, 1, 1]);
  await pruneNow({ retentionDays: 30, deadRetentionDays: 30 });
  expect(await world.countRows("deliveries", "attempts", "events")).toEqual([0, 0, 0]);
});

test("a deleted endpoint's row stays while it has history, and for a retention period", async () => {
  const withDead = await newEndpoint(400);
  const without = await newEndpoint(200);
  await instance.hooks.endpoints.delete("acme", without);
  await publish();
  await instance.hooks.endpoints.delete("acme", withDead);
  await instance.advance(30 * dayMs - 60_000);
  await pruneNow({ retentionDays: 30 });
  expect(await world.countRows("endpoints")).toEqual([2]);
  await instance.advance(61_000);
  await pruneNow({ retentionDays: 30 });
  const { rows } = await pool.query("select 'ep_' || id as id from posthorn.endpoints");
  expect(rows).toEqual([{ id: withDead }]);
});

test("an audit entry is kept until its retention period ends", async () => {
  const { auditLog, db } = instance.hooks;
  const actor = { actorKind: "admin", actorId: null, actorUser: null, actorTenant: null } as const;
  const about = {
    address: null,
    tenant: "kept",
    action: "tenants.put",
    target: {},
    changes: null,
    requestId: "r",
  };
  const entries = async () => (await auditLog.list({ tenant: "kept" })).data;
  await beginEntry(db, { ...actor, ...about });
  await instance.advance(7 * dayMs - 60_000);
  await pruneNow({ auditDays: 7 });
  expect(await entries()).toHaveLength(1);
  await instance.advance(61_000);
  await pruneNow({ auditDays: 7 });
  expect(await entries()).toEqual([]);
});

test("pruning stops between two steps", async () => {
  await addOldKeys(5_001);
  let asked = 0;
  await pruneNow({ idempotencyDays: 7 }, () => {
    asked += 1;
    return asked === 1;
  });
  expect(await world.countRows("idempotency_keys")).toEqual([1]);
});
