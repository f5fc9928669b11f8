// Maintenance runs in one process of several, and in another soon after its death.
import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { startWorker } from "../../../../tests/support/processes/worker-world.ts";
import { silentLogger } from "../observe/log.ts";
import type { Instance } from "../posthorn.ts";
import { Database } from "../storage/database.ts";
import { TableVacuum } from "./vacuum.ts";

const world = databasePerTest({ started: false });
const newInstance = async (): Promise<Instance> => (await world.open()).hooks;

async function leader(): Promise<number | null> {
  const { rows } = await world.pool.query(
    "select worker_id from posthorn.leadership where expires_at > posthorn.now()",
  );
  return rows[0]?.worker_id ?? null;
}

const leads = (instance: Instance) => instance.engine?.maintenance.leads === true;

test("one of several processes leads, even if it is an API process, and hands over when it stops", async () => {
  const [first, second, third] = [await newInstance(), await newInstance(), await newInstance()];
  await first.start({ role: "api" });
  await eventually("the only one leads", () => leads(first));
  await Promise.all([second.start(), third.start()]);
  // for the next five seconds, however long the starts took
  await first.engine?.maintenance.runNow();
  await Promise.all([second.engine?.maintenance.runNow(), third.engine?.maintenance.runNow()]);
  expect([first, second, third].map(leads)).toEqual([true, false, false]);
  await first.stop();
  await eventually("another one leads", () => leads(second) || leads(third));
});

test("a leader that was killed is replaced long before its worker lease expires", async () => {
  const child = startWorker({
    database: world.connectionString,
    encryptionKeys: world.encryptionKeys,
    userAgent: "killed",
    leaseMs: 60_000,
  });
  onTestFinished(() => child.kill());
  await child.started;
  await eventually("the child leads", async () => (await leader()) !== null);
  const survivor = await newInstance();
  await survivor.start();
  await survivor.engine?.maintenance.runNow();
  expect(leads(survivor)).toBe(false);

  await child.kill();
  await eventually("the survivor leads", () => leads(survivor));
});

test("a leader that was replaced notices at its next renewal", async () => {
  const first = await newInstance();
  await first.start();
  await eventually("it leads", () => leads(first));
  const { rows } = await world.pool.query(`
    insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
    values (now() + interval '1 hour', false, 'another') returning id`);
  await world.pool.query(
    "update posthorn.leadership set worker_id = $1, expires_at = now() + interval '1 hour'",
    [rows[0].id],
  );
  await first.engine?.maintenance.runNow();
  expect(leads(first)).toBe(false);
  // its worker is reaped, so leadership is free before it expires
  await world.pool.query("delete from posthorn.workers where id = $1", [rows[0].id]);
  await first.engine?.maintenance.runNow();
  expect(leads(first)).toBe(true);
});

async function fillQueue(): Promise<void> {
  await world.pool.query(`
    insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'infinity', now()
    from generate_series(1, 20000)`);
}

const queueState = async () =>
  (
    await world.pool.query(`
      select s.vacuum_count::integer as vacuums, s.analyze_count::integer as analyses, s.n_dead_tup::integer as dead,
        pg_relation_size(s.relid)::integer as size
      from pg_stat_user_tables s where s.relname = 'queue'`)
  ).rows[0];

test("a queue that grew is analyzed, one that was drained is vacuumed", async () => {
  const { db } = await newInstance();
  const tables = new TableVacuum({ db, logger: silentLogger });
  await fillQueue();
  await tables.run();
  expect(await queueState()).toMatchObject({ vacuums: 0, analyses: 1 });
  await world.pool.query("delete from posthorn.queue");
  await eventually("the deletion is known", async () => (await queueState()).dead >= 20_000);
  await tables.run();
  expect(await queueState()).toMatchObject({ vacuums: 1, dead: 0, size: 0 });
});

test("a role that does not own the tables logs that once and continues", async () => {
  const role = `role_${randomBytes(4).toString("hex")}`;
  await world.pool.query(`
    create role ${role} login;
    grant usage on schema posthorn to ${role};
    grant all on all tables in schema posthorn to ${role}`);
  const url = new URL(world.connectionString);
  url.searchParams.set("user", role);
  const db = new Database({ database: url.href, schema: "posthorn" });
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  try {
    const tables = new TableVacuum({ db, logger });
    await fillQueue();
    await world.pool.query("delete from posthorn.queue");
    await tables.run();
    await tables.run();
  } finally {
    await db.close();
    await world.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
  expect(warnings).toEqual([expect.stringContaining("cannot vacuum")]);
  expect(await queueState()).toMatchObject({ vacuums: 0 });
});
