// Migrations run while workers deliver: nothing is lost, nobody has to stop, and nothing changes that need not.
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type pg from "pg";
import { createPosthorn, type PosthornOptions, type Role } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../packages/posthorn/src/storage/database.ts";
import { type Migration, migrations } from "../../packages/posthorn/src/storage/generated/migrations.ts";
import { migrate } from "../../packages/posthorn/src/storage/migrate.ts";
import { audit, nothingOwed } from "../support/audit.ts";
import { isQuick } from "../support/matrix.ts";
import { createDatabase, createPool } from "../support/postgres.ts";
import { publishSteadily, type SteadyPublisher } from "../support/steady-publisher.ts";
import { startTestReceiver, type TestReceiver } from "../support/test-receiver.ts";
import { startWorker } from "../support/worker-process.ts";

const untouched = {
  unknown: 0,
  duplicates: 0,
  unexplained: [],
  unrecorded: [],
  misnumbered: [],
  unfinished: [],
};

test.skipIf(isQuick)(
  "migrating again, by three processes at once under load, changes nothing and breaks nothing",
  async () => {
    const { connectionString, pool, receiver, hooks, options } = await openWorld();
    const worker = startWorker({ ...options, userAgent: "worker" });
    onTestFinished(() => worker.kill());
    await worker.started;
    const before = await schemaOf(pool);
    const publisher = publishSteadily(hooks, "acme");
    onTestFinished(() => publisher.abandon());
    await publisher.more(20);
    const migrators = [1, 2, 3].map(() => migrateInProcess(connectionString, 5));
    for (let time = 1; time <= 10; time += 1) expect(await hooks.migrate()).toMatchObject({ applied: [] });
    expect(await Promise.all(migrators)).toEqual([[], [], []]);
    await publisher.more(20);
    expect(await schemaOf(pool)).toEqual(before);
    await expectAllDelivered(pool, receiver, publisher);
    expect(publisher.errors.size).toBe(0);
  },
);

test.skipIf(isQuick)(
  "workers and publishers go on when a later Posthorn migrates the schema under them",
  async () => {
    const { connectionString, pool, receiver, hooks, options } = await openWorld({ role: "api" });
    const worker = startWorker({ ...options, userAgent: "worker" });
    onTestFinished(() => worker.kill());
    await worker.started;
    const publisher = publishSteadily(hooks, "acme");
    onTestFinished(() => publisher.abandon());
    await publisher.more(50);

    const later = new Database({ database: connectionString, schema: "posthorn" });
    onTestFinished(() => later.close());
    await migrate(later, { migrations: [...migrations, widening] });
    await publisher.more(50);
    expect(await hooks.health()).toEqual({ ready: true });
    await expectAllDelivered(pool, receiver, publisher);
    expect(publisher.errors.size).toBe(0);
    expect(receiver.arrivals.some(({ sender }) => sender === "worker")).toBe(true);

    const tooOld = createPosthorn(options);
    onTestFinished(() => tooOld.stop());
    await expect(tooOld.start()).rejects.toMatchObject({ code: "schema_too_new" });
  },
);

test("a role that may create nothing in the database but what is in its own schema migrates, publishes and delivers", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const owner = createPool(database.connectionString);
  const role = `role_${randomBytes(6).toString("hex")}`;
  await owner.query(`create role ${role} login`);
  onTestFinished(async () => {
    await owner.query(`drop owned by ${role} cascade`);
    await owner.query(`drop role ${role}`);
    await owner.end();
  });
  await owner.query(`create schema posthorn authorization ${role}`);
  const url = new URL(database.connectionString);
  url.searchParams.set("user", role);

  const { pool, receiver, hooks } = await openWorld({ connectionString: url.href });
  const { rows } = await pool.query(
    "select current_user as name, has_database_privilege(current_database(), 'create') as may_create",
  );
  expect(rows).toEqual([{ name: role, may_create: false }]);
  const publisher = publishSteadily(hooks, "acme");
  onTestFinished(() => publisher.abandon());
  await publisher.more(30);
  await expectAllDelivered(pool, receiver, publisher);
});

/** What a later version may do while older workers run: add columns, tables and indexes, replace a function. */
const widening = ((): Migration => {
  const sql = `
alter table posthorn.queue add column priority integer not null default 0;
alter table posthorn.events add column source text;
alter table posthorn.deliveries add column note text;
alter table posthorn.attempts add column region text default 'here';
alter table posthorn.endpoints add column labels jsonb not null default '{}';
alter table posthorn.lanes add column weight integer not null default 1;
alter table posthorn.workers add column version text;
create table posthorn.extras (id integer primary key);
create index queue_priority on posthorn.queue (priority) where claimed_by is null;
create or replace function posthorn.epoch_ms(at timestamptz) returns double precision
language sql immutable parallel safe
as $$ select 1000 * extract(epoch from at)::double precision $$;
`;
  const checksum = createHash("sha256").update(sql).digest("hex");
  return { version: migrations.length + 1, name: "widening", sql, checksum };
})();

async function openWorld({
  connectionString,
  role = "all",
}: {
  readonly connectionString?: string;
  readonly role?: Role;
} = {}) {
  const database = connectionString === undefined ? await createDatabase() : undefined;
  if (database !== undefined) onTestFinished(() => database.drop());
  const url = connectionString ?? (database?.connectionString as string);
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  receiver.answerAfterMs = () => 2 + Math.random() * 10;
  const options: PosthornOptions = {
    database: url,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
  };
  const hooks = createPosthorn({ ...options, userAgent: "parent" });
  await hooks.migrate();
  await hooks.tenants.upsert("acme", {});
  for (const path of ["/1", "/2"]) {
    await hooks.endpoints.create("acme", { url: receiver.url + path, events: ["*"] });
  }
  await hooks.start({ role });
  onTestFinished(() => hooks.stop({ graceMs: 1_000 }));
  const pool = createPool(url);
  onTestFinished(() => pool.end());
  return { connectionString: url, pool, receiver, hooks, options };
}

async function migrateInProcess(connectionString: string, times: number): Promise<unknown> {
  const script = fileURLToPath(new URL("../support/migrate-child.ts", import.meta.url));
  const args = ["--conditions=posthorn-source", "--import", "tsx", script, connectionString, String(times)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

/** Everything in the schema that a migration could have changed. */
async function schemaOf(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(`
    select 'column' as kind, table_name || '.' || column_name as name, data_type || coalesce(column_default, '') as what
    from information_schema.columns where table_schema = 'posthorn'
    union all
    select 'index', indexname, indexdef from pg_indexes where schemaname = 'posthorn'
    union all
    select 'function', p.oid::regprocedure::text, md5(p.prosrc) from pg_proc p
    where p.pronamespace = 'posthorn'::regnamespace
    union all
    select 'migration', version::text, checksum || applied_at from posthorn.migrations
    order by 1, 2`);
  return rows;
}

async function expectAllDelivered(
  pool: pg.Pool,
  receiver: TestReceiver,
  publisher: SteadyPublisher,
): Promise<void> {
  await publisher.stop();
  const ids = [...publisher.acknowledged.values()];
  await receiver.until("every acknowledged event at both endpoints", () =>
    ["/1", "/2"].every((path) => ids.every((id) => receiver.eventsAt(path).has(id))),
  );
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject(untouched);
}
