// Maintenance runs in one process of several, and in another soon after its death.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../../tests/support/eventually.ts";
import { createMigratedDatabase, createPool } from "../../../../tests/support/postgres.ts";
import { startWorker } from "../../../../tests/support/worker-process.ts";
import { resolveConfig } from "../config.ts";
import { silentLogger } from "../observe/log.ts";
import { Instance } from "../posthorn.ts";
import { Database } from "../storage/database.ts";
import { TableVacuum } from "./vacuum.ts";

let pool: pg.Pool;
let options: { database: string; encryptionKeys: string };

beforeEach(async () => {
  const database = await createMigratedDatabase();
  pool = createPool(database.connectionString);
  options = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
  };
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const migrator = newInstance();
  await migrator.migrate();
});

function newInstance(): Instance {
  const instance = new Instance(resolveConfig(options));
  onTestFinished(() => instance.stop());
  return instance;
}

async function leader(): Promise<number | null> {
  const { rows } = await pool.query(
    "select worker_id from posthorn.leadership where expires_at > posthorn.now()",
  );
  return rows[0]?.worker_id ?? null;
}

const leads = (instance: Instance) => instance.engine?.isMaintenanceLeader === true;

test("one of several processes leads, even if all are API processes", async () => {
  const [first, second, third] = [newInstance(), newInstance(), newInstance()];
  await first.start({ role: "api" });
  await eventually("the only one leads", () => leads(first));
  await Promise.all([second.start(), third.start()]);
  await Promise.all([second.engine?.runMaintenance(), third.engine?.runMaintenance()]);
  expect([first, second, third].map(leads)).toEqual([true, false, false]);
});

test("a leader that stops hands over", async () => {
  const [first, second] = [newInstance(), newInstance()];
  await first.start();
  await eventually("the first leads", () => leads(first));
  await second.start();
  await first.stop();
  await eventually("the second leads", () => leads(second));
});

test("a leader that was killed is replaced long before its worker lease expires", async () => {
  const child = startWorker({ ...options, userAgent: "doomed", leaseMs: 60_000 });
  onTestFinished(() => child.kill());
  await child.started;
  await eventually("the child leads", async () => (await leader()) !== null);
  const survivor = newInstance();
  await survivor.start();
  await survivor.engine?.runMaintenance();
  expect(leads(survivor)).toBe(false);

  await child.kill();
  await eventually("the survivor leads", () => leads(survivor));
});

test("a leader that was replaced notices at its next renewal", async () => {
  const first = newInstance();
  await first.start();
  await eventually("it leads", () => leads(first));
  const { rows } = await pool.query(`
    insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
    values (now() + interval '1 hour', false, 'usurper') returning id`);
  await pool.query("update posthorn.leadership set worker_id = $1, expires_at = now() + interval '1 hour'", [
    rows[0].id,
  ]);
  await first.engine?.runMaintenance();
  expect(leads(first)).toBe(false);
  // its worker is reaped, so leadership is free before it expires
  await pool.query("delete from posthorn.workers where id = $1", [rows[0].id]);
  await first.engine?.runMaintenance();
  expect(leads(first)).toBe(true);
});

async function fillQueue(): Promise<void> {
  await pool.query(`
    insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'infinity', now()
    from generate_series(1, 20000)`);
}

const queueState = async () =>
  (
    await pool.query(`
      select s.vacuum_count::integer as vacuums, s.analyze_count::integer as analyses, s.n_dead_tup::integer as dead,
        pg_relation_size(s.relid)::integer as size
      from pg_stat_user_tables s where s.relname = 'queue'`)
  ).rows[0];

test("a queue that grew is analyzed, one that was drained is vacuumed", async () => {
  const db = new Database({ database: options.database, schema: "posthorn" });
  onTestFinished(() => db.close());
  const tables = new TableVacuum({ db, logger: silentLogger });
  await fillQueue();
  await tables.run();
  expect(await queueState()).toMatchObject({ vacuums: 0, analyses: 1 });
  await pool.query("delete from posthorn.queue");
  await eventually("the deletion is known", async () => (await queueState()).dead >= 20_000);
  await tables.run();
  expect(await queueState()).toMatchObject({ vacuums: 1, dead: 0, size: 0 });
});

test("a role that does not own the tables logs that once and continues", async () => {
  const role = `role_${randomBytes(4).toString("hex")}`;
  await pool.query(`create role ${role} login`);
  onTestFinished(async () => {
    await pool.query(`drop owned by ${role}`);
    await pool.query(`drop role ${role}`);
  });
  await pool.query(`grant usage on schema posthorn to ${role}`);
  await pool.query(`grant all on all tables in schema posthorn to ${role}`);
  const url = new URL(options.database);
  url.searchParams.set("user", role);
  const db = new Database({ database: url.href, schema: "posthorn" });
  onTestFinished(() => db.close());
  const told: string[] = [];
  const tables = new TableVacuum({
    db,
    logger: { ...silentLogger, warn: (message) => void told.push(message) },
  });
  await fillQueue();
  await pool.query("delete from posthorn.queue");
  await tables.run();
  await tables.run();
  expect(told).toEqual([expect.stringContaining("cannot vacuum")]);
  expect(await queueState()).toMatchObject({ vacuums: 0 });
});
