import { createHash, randomBytes } from "node:crypto";
import { uuidTimeMs } from "@posthorn/wire";
import type pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, createPool } from "../../../../tests/support/database/postgres.ts";
import { Database } from "./database.ts";
import { type Migration, migrations } from "./generated/migrations.ts";
import { migrate, migrationStatus } from "./migrate.ts";
import { getMetadata, setMetadataOnce } from "./queries/metadata/metadata.ts";
import { ensurePartitions } from "./queries/partitions.ts";

const database = await createDatabase();
const pool = createPool(database.connectionString, { max: 10 });
afterAll(() => database.drop());

/** Each test has its own schema. */
function open(schema = `s_${randomBytes(4).toString("hex")}`, connection: pg.Pool | string = pool): Database {
  const db = new Database({ database: connection, schema });
  onTestFinished(() => db.close());
  return db;
}

async function tablesOf(schema: string): Promise<string[]> {
  const { rows } = await pool.query("select tablename from pg_tables where schemaname = $1 order by 1", [
    schema,
  ]);
  return rows.map((row) => row.tablename);
}

function migration(version: number, name: string, sql: string): Migration {
  return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
}

test("an empty database is migrated to the newest version, with partitions for today and three days, once", async () => {
  const db = open();
  const startedAt = Date.now();
  const result = await migrate(db);

  expect(result.applied.map(({ name }) => name)).toEqual(migrations.map(({ name }) => name));
  expect(result.version).toBe(migrations.length);
  const partitions = (await tablesOf(db.schema)).filter((name) => /^events_\d/.test(name));
  const daysFrom = (ms: number) =>
    [0, 1, 2, 3].map((ahead) => {
      const day = new Date(ms + ahead * 86_400_000).toISOString().slice(0, 10);
      return `events_${day.replaceAll("-", "")}`;
    });
  // the day may have changed during the migration
  expect([daysFrom(startedAt), daysFrom(Date.now())]).toContainEqual(partitions);
  expect(await migrationStatus(db)).toMatchObject({ version: migrations.length, pending: [] });
  expect(await migrate(db)).toEqual({ applied: [], pending: [], version: migrations.length, script: "" });
});

test("of several concurrent migrators, one applies each migration", async () => {
  const schema = open().schema;
  const results = await Promise.all([migrate(open(schema)), migrate(open(schema)), migrate(open(schema))]);
  const versions = results.flatMap(({ applied }) => applied).map(({ version }) => version);
  expect(versions.toSorted((a, b) => a - b)).toEqual(migrations.map(({ version }) => version));
});

test("two processes can create the same partitions concurrently", async () => {
  const db = open();
  await migrate(db);
  const made = await Promise.all([ensurePartitions(db, 9), ensurePartitions(db, 9)]);
  expect(made.toSorted()).toEqual([0, 18]);
});

test("a schema name may have capitals and a dash", async () => {
  const db = open("My-Hooks");
  await migrate(db);
  expect(await tablesOf("My-Hooks")).toContain("endpoints");
  const { rows } = await pool.query(
    `select "My-Hooks".publish(tenant => 't1', type => 'order.paid', data => '{"id":1}'::text) as id`,
  );
  expect(rows[0].id).toMatch(/^evt_/);
});

test("a migration works on a connection that prepares its statements", async () => {
  const db = open();
  const direct = await db.connect();
  await direct.close();
  await migrate(db);
  expect(await migrationStatus(db)).toMatchObject({ pending: [] });
});

test("a role without the privilege to create schemas migrates an existing one", async () => {
  const role = await makeRole();
  await pool.query(`create schema prepared authorization ${role.name}`);
  const db = open("prepared", role.connectionString);
  await migrate(db);
  const { rows } = await pool.query(
    "select tableowner from pg_tables where schemaname = 'prepared' and tablename = 'queue'",
  );
  expect(rows).toEqual([{ tableowner: role.name }]);
});

test("a role that cannot create the schema gets an error that says what to run", async () => {
  const role = await makeRole();
  const db = open("not-there", role.connectionString);
  await expect(migrate(db)).rejects.toMatchObject({
    code: "schema_missing",
    message: expect.stringContaining('create schema "not-there" authorization'),
  });
});

test("a schema that is newer than the code is rejected, and the message says what to do", async () => {
  const db = open();
  await migrate(db, { migrations: [...migrations, migration(migrations.length + 1, "later", "select 1")] });
  const refusal = { code: "schema_too_new", message: expect.stringContaining("Run the newer Posthorn") };
  await expect(migrate(db)).rejects.toMatchObject(refusal);
  await expect(migrationStatus(db)).rejects.toMatchObject(refusal);
});

test("a migration that changed after it was applied is an error", async () => {
  const db = open();
  await migrate(db);
  const [first, ...rest] = migrations as [Migration, ...Migration[]];
  await expect(migrate(db, { migrations: [{ ...first, checksum: "other" }, ...rest] })).rejects.toMatchObject(
    {
      code: "schema_changed",
    },
  );
});

test("a dry run changes nothing, and its script does the same as a migration", async () => {
  const db = open("dry-Run");
  const result = await migrate(db, { dryRun: true });
  expect(result).toMatchObject({
    applied: [],
    version: 0,
    pending: migrations.map(({ version, name }) => ({ version, name })),
  });
  const { rows } = await pool.query("select from pg_namespace where nspname = 'dry-Run'");
  expect(rows).toHaveLength(0);

  await pool.query(result.script);
  expect(await migrate(db)).toMatchObject({ applied: [], version: migrations.length });
});

test.each([
  ["fails", "select 1 / 0;"],
  ["ends its session", "select pg_terminate_backend(pg_backend_pid());"],
])("a migration that %s leaves nothing half-applied, and earlier ones stay applied", async (name, sql) => {
  const db = open();
  const ownPool = createPool(database.connectionString, { max: 1 });
  ownPool.on("connect", (client) => client.on("error", () => {})); // it is terminated on purpose
  const broken = migration(migrations.length + 1, name, `create table posthorn.half (id int); ${sql}`);
  const all = [...migrations, broken];
  await expect(migrate(open(db.schema, ownPool), { migrations: all })).rejects.toThrow();
  expect(await tablesOf(db.schema)).not.toContain("half");
  expect(await migrationStatus(db)).toMatchObject({ version: migrations.length, pending: [] });
});

test("a migration backs off from a locked table, and succeeds when the lock is released", async () => {
  const db = open();
  await migrate(db);
  const holder = await pool.connect();
  await holder.query("begin");
  await holder.query(`lock table "${db.schema}".queue in access share mode`);
  const next = migration(migrations.length + 1, "widen", "alter table posthorn.queue add column extra int;");
  const all = [...migrations, next];

  const refused = migrate(db, { migrations: all, lockTimeoutMs: 20, lockTries: 2 });
  await expect(refused).rejects.toMatchObject({ code: "database_unavailable" });

  const patient = migrate(db, { migrations: all, lockTimeoutMs: 20 });
  await holder.query("commit");
  holder.release();
  expect((await patient).applied).toEqual([{ version: next.version, name: "widen" }]);
});

test("the first process to write a fact about the installation decides it", async () => {
  const db = open();
  await migrate(db);
  expect(await getMetadata(db, "installation")).toBeNull();
  const stored = await Promise.all(
    ["a", "b", "c"].map((value) => setMetadataOnce(db, "installation", value)),
  );
  expect(new Set(stored).size).toBe(1);
  expect(await getMetadata(db, "installation")).toBe(stored[0]);
});

/** A role that may only connect. */
async function makeRole(): Promise<{ name: string; connectionString: string }> {
  const name = `role_${randomBytes(6).toString("hex")}`;
  await pool.query(`create role ${name} login password 'test'`);
  onTestFinished(async () => {
    await pool.query(`drop owned by ${name} cascade`);
    await pool.query(`drop role ${name}`);
  });
  const url = new URL(database.connectionString);
  url.searchParams.set("user", name);
  url.searchParams.set("password", "test");
  return { name, connectionString: url.href };
}

test("ids that the database creates have the order of their microseconds", async () => {
  const db = open();
  await migrate(db);
  const text = `
    select ${db.schema}.uuidv7(timestamptz '2026-11-18 12:00:00.999Z' + n * interval '1 microsecond') as id
    from generate_series(0, 1999) as n`;
  const ids = (await pool.query<{ id: string }>(text)).rows.map(({ id }) => id);
  expect(ids.toSorted()).toEqual(ids);
  const startMs = Date.UTC(2026, 10, 18, 12, 0, 0, 999);
  expect(ids.map(uuidTimeMs)).toEqual(ids.map((_, n) => startMs + Math.floor(n / 1000)));
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});
