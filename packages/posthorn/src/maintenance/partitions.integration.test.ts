// Days of history are replaced while other processes read and write.
import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { databasePerTest, receiverPerFile } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { silentLogger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import {
  copyKept,
  historyPartitions,
  type Replacement,
  stageKept,
  swapKept,
} from "../storage/queries/partitions.ts";
import { maintainPartitions } from "./partitions.ts";
import { planReplacements } from "./plan-replacements.ts";

const limits = { lockTimeoutMs: 1_000, holdAtMostMs: 5_000 };
const endpoint = "0190b5a0-0000-7000-8000-000000000001";

const receiver = await receiverPerFile();
const world = databasePerTest({ started: false });

let pool: pg.Pool;
let db: Database;

// Not started: the tests run maintenance themselves. A separate instance publishes.
beforeEach(async () => {
  pool = world.pool;
  ({ db } = (await world.open()).hooks);
  // the endpoint of all old deliveries is disabled, so that its queued ones stay queued
  await pool.query(`
    insert into posthorn.tenants (id) values ('old');
    insert into posthorn.endpoints (id, tenant, url, events, is_active)
    values ('${endpoint}', 'old', 'http://127.0.0.1', '{}', false);
    insert into posthorn.lanes (endpoint_id, paused) values ('${endpoint}', true)`);
});

/** Returns the warnings. */
async function maintain(mayContinue = () => true): Promise<unknown[]> {
  const warnings: unknown[] = [];
  const warn = (message: string, fields = {}) => void warnings.push({ message, fields });
  await maintainPartitions({ db, retentionDays: 30, mayContinue, logger: { ...silentLogger, warn } });
  return warnings;
}

/** Writes a day of history, `daysAgo` days before today. Every tenth delivery is dead, one is queued. */
async function seedDay(daysAgo: number, count = 100, withPartition = true): Promise<void> {
  const day = `((posthorn.now() at time zone 'UTC')::date - ${daysAgo})`;
  await pool.query(`
    begin;
    ${withPartition ? `select posthorn.ensure_partitions(${day}, ${day});` : ""}
    create temporary table seed on commit drop as
    select posthorn.uuidv7(${day}::timestamp at time zone 'UTC' + n * interval '1 second') as event_id, n
    from generate_series(1, ${count}) n;
    -- a delivery has its event's 48 bits of time
    alter table seed add id uuid;
    update seed set id = (left(event_id::text, 14) || substr(gen_random_uuid()::text, 15))::uuid;
    insert into posthorn.events (id, tenant, type, api_version, payload)
    select event_id, 'old', 'order.paid', '1', convert_to(n::text, 'UTF8') from seed;
    insert into posthorn.deliveries
      (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
    select id, event_id, '${endpoint}', case when n % 10 = 0 then 'dead' else 'success' end, 2, 0,
      ${day}::timestamp at time zone 'UTC' + n * interval '2 seconds'
    from seed where n > 1;
    insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, attempts)
    select id, event_id, '${endpoint}', 'infinity', posthorn.now(), 2 from seed where n = 1;
    insert into posthorn.attempt_log (delivery_id, number, trigger, worker)
    select id, number, 'event', 1 from seed, generate_series(1, 2) number;
    commit`);
}

/** Counts the rows; `whole` are the dead and queued deliveries whose event and both attempts exist. */
async function left(): Promise<unknown> {
  const { rows } = await pool.query(`
    select
      count(*) filter (where d.state = 'dead')::integer as dead,
      count(*) filter (where d.state = 'success')::integer as success,
      count(*) filter (where d.state = 'pending')::integer as queued,
      count(*) filter (
        where d.state <> 'success'
          and exists (select from posthorn.events e where e.id = d.event_id)
          and (select count(*) from posthorn.attempts a where a.delivery_id = d.id) = 2
      )::integer as whole,
      (select count(*)::integer from posthorn.events) as events,
      (select count(*)::integer from posthorn.attempts) as attempts
    from posthorn.delivery_states d`);
  return rows[0];
}

const kept = { dead: 10, success: 0, queued: 1, whole: 11, events: 11, attempts: 22 };

async function attached(): Promise<string[]> {
  const { partitions } = await historyPartitions(db);
  return partitions.map(({ name }) => name).toSorted();
}

const keptNames = async () => (await attached()).filter((name) => name.endsWith("_kept"));

async function planned(): Promise<Replacement[]> {
  const { nowMs, partitions } = await historyPartitions(db);
  return planReplacements(partitions, nowMs - 30 * 86_400_000);
}

test("an event that waits in the outbox outlives its day", async () => {
  await seedDay(40, 1);
  const { rows } = await pool.query("select id from posthorn.events");
  await pool.query("delete from posthorn.queue");
  await pool.query("insert into posthorn.outbox (event_id) values ($1)", [rows[0].id]);
  await maintain();
  expect((await pool.query("select id from posthorn.events")).rows).toEqual(rows);
  expect(await keptNames()).toHaveLength(1);
});

test("a crash after any step loses nothing, and the next run completes the work", async () => {
  await seedDay(40);
  for (const replacement of await planned()) {
    await stageKept(db, replacement, 1_000);
    expect(await left()).toMatchObject({ dead: 10, queued: 1, whole: 11 });
    await copyKept(db, replacement, 3);
    expect(await left()).toMatchObject({ dead: 10, queued: 1, whole: 11 });
    // a crash during the swap: the connection ends and the transaction is rolled back
    const client = await pool.connect();
    const { parent, target, lowerBound, upperBound } = replacement;
    await client.query("begin");
    await client.query("select posthorn.swap_kept($1, $2, $3, $4)", [parent, target, lowerBound, upperBound]);
    client.release(true);
    expect(await left()).toMatchObject({ dead: 10, queued: 1, whole: 11 });
    await swapKept(db, replacement, limits);
    expect(await left()).toMatchObject({ dead: 10, queued: 1, whole: 11 });
  }
  expect(await left()).toEqual(kept);
});

test("changes to old deliveries between copying and swapping are kept", async () => {
  await seedDay(40);
  const [deliveries, attempts, events] = (await planned()) as [Replacement, Replacement, Replacement];
  await stageKept(db, deliveries, 1_000);
  while ((await copyKept(db, deliveries, 5_000)) > 0);
  const [retried, deadAgain, ...others] = (
    await pool.query<{ id: string }>("select id from posthorn.deliveries where state = 'dead' order by id")
  ).rows.map(({ id }) => id);
  // one is retried and queued, one was retried and is dead again, and a success is retried too
  await pool.query(
    `
    with revived as (delete from posthorn.deliveries where id = $1 returning *)
    insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, attempts)
    select id, event_id, endpoint_id, 'infinity', posthorn.now(), attempts from revived`,
    [retried],
  );
  await pool.query(
    "update posthorn.deliveries set attempts = 3, finished_at = posthorn.now() where id = $1",
    [deadAgain],
  );
  await swapKept(db, deliveries, limits);
  const { rows } = await pool.query("select id, attempts from posthorn.deliveries order by id");
  expect(rows).toEqual([{ id: deadAgain, attempts: 3 }, ...others.map((id) => ({ id, attempts: 2 }))]);

  await stageKept(db, attempts, 1_000);
  while ((await copyKept(db, attempts, 5_000)) > 0);
  await pool.query(
    "insert into posthorn.attempt_log (delivery_id, number, trigger, worker) values ($1, 3, 'manual', 1)",
    [deadAgain],
  );
  await swapKept(db, attempts, limits);
  await stageKept(db, events, 1_000);
  await swapKept(db, events, limits);
  expect(await left()).toEqual({ dead: 9, success: 0, queued: 2, whole: 10, events: 11, attempts: 23 });
});

test("two concurrent leaders do no harm", async () => {
  await seedDay(40);
  await seedDay(41);
  const done = await Promise.allSettled([maintain(), maintain(), maintain()]);
  await maintain();
  expect(await left()).toEqual({ dead: 20, success: 0, queued: 2, whole: 22, events: 22, attempts: 44 });
  expect((await attached()).filter((name) => /_\d{8}$/.test(name))).toHaveLength(12);
  expect(done.some(({ status }) => status === "fulfilled")).toBe(true);
});

test("a leader that was replaced half-way finds the work done", async () => {
  await seedDay(40);
  for (const replacement of await planned()) {
    await stageKept(db, replacement, 1_000);
    await copyKept(db, replacement, 3);
  }
  const late = await planned();
  await maintain();
  for (const replacement of late) {
    expect(await copyKept(db, replacement, 5_000)).toBe(0);
    expect(await swapKept(db, replacement, limits)).toBe(0);
  }
  expect(await left()).toMatchObject({ dead: 10, success: 0, queued: 1, whole: 11 });
});

test.each(["deliveries", "attempt_log", "events"])(
  "an open read of %s delays dropping the old day but not publishing or delivering",
  async (table) => {
    await seedDay(40);
    const running = await world.open({ started: true, retentionDays: 3_650 });
    await running.hooks.endpoints.create("acme", { url: `${receiver.url}/read`, events: ["*"] });
    const reader = await pool.connect();
    await reader.query("begin isolation level repeatable read");
    await reader.query(`select count(*) from posthorn.${table}`);

    let isDone = false;
    // it also gives up on a table that a delivery is being written to, and goes on from there the next time
    const maintainOthers = async (): Promise<unknown[]> => {
      const warnings = await maintain();
      return JSON.stringify(warnings).includes(`"table":"${table}"`) ? warnings : await maintainOthers();
    };
    const maintained = maintainOthers().finally(() => {
      isDone = true;
    });
    let published = 0;
    do {
      await running.hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
      await running.settle();
      published += 1;
    } while (!isDone);
    expect(await maintained).toMatchObject([
      { message: expect.stringContaining("could not drop old history"), fields: { table } },
    ]);
    expect(await left()).toMatchObject({ dead: 10, queued: 1, whole: 11 });
    await reader.query("rollback");
    reader.release();

    expect(await maintain()).toEqual([]);
    expect(await left()).toEqual({
      ...kept,
      success: published,
      events: kept.events + published,
      attempts: kept.attempts + published,
    });
  },
);

test("creating partitions backs off from a locked table without blocking others", async () => {
  await seedDay(40);
  const lastDay = (await attached()).filter((name) => /^events_\d{8}$/.test(name)).at(-1) as string;
  await pool.query(`drop table posthorn.${lastDay}`);
  await inTransaction(pool, async (tx) => {
    await tx.query("select from posthorn.events_default");
    expect(await maintain()).toMatchObject([
      { message: expect.stringContaining("could not create partitions") },
      { message: expect.stringContaining("could not drop old history"), fields: { table: "events" } },
    ]);
  });
  expect(await maintain()).toEqual([]);
  expect(await attached()).toContain(lastDay);
});

test("a day with missing partitions is dropped", async () => {
  await seedDay(40);
  await seedDay(41, 100, false);
  const day = (await planned()).find(({ parent }) => parent === "events");
  const events = day?.target.replace("_kept", "");
  // its rows are in the default partition, as if its partition had never been created
  await pool.query(`
    begin;
    alter table posthorn.events detach partition posthorn.${events};
    insert into posthorn.events select * from posthorn.${events};
    drop table posthorn.${events};
    commit`);
  expect(await maintain()).toEqual([]);
  expect(await left()).toMatchObject({ dead: 20, queued: 2, whole: 22 });
  expect(await keptNames()).toHaveLength(2);
});

test("the kept days of a month are merged, including rows of the default partition", async () => {
  const { rows } = await pool.query(`
    select today.day - (date_trunc('month', today.day) - interval '3 months' + interval '9 days')::date as ago
    from (select (posthorn.now() at time zone 'UTC')::date as day) today`);
  const ago: number = rows[0].ago;
  await seedDay(ago);
  await seedDay(ago - 1);
  await seedDay(ago - 2, 100, false);
  await maintain();
  expect(await keptNames()).toHaveLength(6);
  await maintain();
  expect(await keptNames()).toHaveLength(3);
  expect(await left()).toEqual({ dead: 30, success: 89, queued: 3, whole: 33, events: 122, attempts: 244 });
  const inDefault = await pool.query("select count(*)::integer as count from posthorn.events_default");
  expect(inDefault.rows).toEqual([{ count: 0 }]);
});

test("a staged table of an older schema is recreated, and an attached one is never touched", async () => {
  await seedDay(40);
  const [deliveries] = (await planned()) as [Replacement];
  await stageKept(db, deliveries, 1_000);
  await pool.query("alter table posthorn.deliveries add column later text");
  expect(await maintain()).toEqual([]);
  expect(await left()).toEqual(kept);
  await expect(stageKept(db, deliveries, 1_000)).rejects.toThrow("is already attached");
  expect(await left()).toEqual(kept);
});

test("a leader that stops does not start with another table", async () => {
  await seedDay(40);
  let asked = 0;
  await maintain(() => {
    asked += 1;
    return asked < 1;
  });
  expect(await keptNames()).toEqual([]);
  expect(await left()).toMatchObject({ dead: 10, success: 89, queued: 1 });
});
