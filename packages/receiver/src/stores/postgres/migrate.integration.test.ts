// The schema comes to be by `migrate`, by someone's own tool, in someone else's schema, or not at all with good reason.
import { randomBytes } from "node:crypto";
import { migrations, postgresStore } from "@posthorn/receiver/postgres";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, createPool } from "../../../../../tests/support/postgres.ts";
import { claimed, messageWith, terms } from "../../../../../tests/support/receiver/store-world.ts";

const database = await createDatabase();
const pool = createPool(database.connectionString, { max: 10 });
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newSchema = () => `s-${randomBytes(4).toString("hex")}`;

async function versions(schema: string): Promise<unknown[]> {
  return (await pool.query(`select version, name from "${schema}".versions order by version`)).rows;
}

const all = migrations().map(({ version, name }) => ({ version, name }));

test("ten processes that migrate at once leave every version once", async () => {
  const schema = newSchema();
  await Promise.all(Array.from({ length: 10 }, () => postgresStore(pool, { schema }).migrate()));
  expect(await versions(schema)).toEqual(all);
});

test("two stores with schemas of their own know nothing of each other", async () => {
  const stores = [newSchema(), newSchema()].map((schema) => postgresStore(pool, { schema }));
  const message = messageWith();
  for (const store of stores) {
    await store.migrate();
    await claimed(store, message);
  }
});

test("the texts can be run by another tool, and `migrate` finds them done", async () => {
  const schema = newSchema();
  for (const { sql } of migrations(schema)) await pool.query(`begin; ${sql}; commit`);
  const store = postgresStore(pool, { schema });
  await store.migrate();
  expect(await versions(schema)).toEqual(all);
  expect(await store.complete(await claimed(store, messageWith()))).toBe(true);
});

test("a store that was not migrated, or not far enough, says what to do", async () => {
  const schema = newSchema();
  const store = postgresStore(pool, { schema });
  const claim = () => store.claim(messageWith(), terms);
  const work = () => store.transactions?.run(messageWith(), terms, async () => {});
  const count = () => store.deadLetters.count();
  for (const step of [claim, work, count]) {
    await expect(step()).rejects.toThrow("run store.migrate() first");
  }
  await pool.query(migrations(schema)[0]?.sql ?? "");
  for (const step of [claim, work]) await expect(step()).rejects.toThrow("run store.migrate() first");
});

test("a table that a handler misses is the handler's own affair", async () => {
  const store = postgresStore(pool, { schema: newSchema() });
  await store.migrate();
  const missing = store.transactions?.run(messageWith(), terms, async (tx) => {
    await tx.query("select * from nowhere");
  });
  await expect(missing).rejects.toThrow('relation "nowhere" does not exist');
});

test("what a database has of older versions is kept, and only the rest is done", async () => {
  const schema = newSchema();
  const [first] = migrations(schema);
  await pool.query(first?.sql ?? "");
  await postgresStore(pool, { schema }).migrate();
  expect(await versions(schema)).toEqual(all);
});

test("a role without the right to create schemas uses one that was made for it", async () => {
  const role = await makeRole();
  const schema = newSchema();
  await pool.query(`create schema "${schema}" authorization ${role.name}`);
  const store = postgresStore(role.pool, { schema });
  await store.migrate();
  expect((await store.claim(messageWith(), terms)).kind).toBe("claimed");
});

test("a role that only receives needs the rights that the reference lists, and no right to create anything", async () => {
  const role = await makeRole();
  const schema = newSchema();
  await postgresStore(pool, { schema }).migrate();
  await pool.query(`
    grant usage on schema "${schema}" to ${role.name};
    grant select, insert, update, delete on all tables in schema "${schema}" to ${role.name};
  `);
  const store = postgresStore(role.pool, { schema });
  await store.migrate(); // finds everything done
  const { transactions } = store;
  expect(await transactions?.run(messageWith(), terms, async () => {})).toEqual({ kind: "worked" });
  await store.accept(messageWith({ subject: "order/1", sequence: 1 }), terms);
  const [claim] = await store.claimDue(1, { ...terms, order: { gapWaitMs: 0 } });
  expect(claim && (await store.fail(claim, { error: "no", next: { kind: "dead" } }))).toBe(true);
  expect(await store.deadLetters.count()).toBe(1);
  expect(claim && (await store.deadLetters.requeue(claim.message))).toBe(true);
  expect(await store.prune(10, { windowMs: 0 })).toBeGreaterThan(0);
});

test("a role without any right is told who must run what", async () => {
  const role = await makeRole();
  const schema = newSchema();
  await expect(postgresStore(role.pool, { schema }).migrate()).rejects.toThrow(
    `create schema "${schema}" authorization`,
  );
});

test("a database of a newer version is refused", async () => {
  const schema = newSchema();
  const store = postgresStore(pool, { schema });
  await store.migrate();
  await pool.query(`insert into "${schema}".versions (version, name) values (${all.length + 1}, 'later')`);
  await expect(store.migrate()).rejects.toThrow(/Update the package/);
});

test.each(["", "1st", 'a"b', "a.b", "a".repeat(64)])("the schema name %j is refused", (schema) => {
  expect(() => postgresStore(pool, { schema })).toThrow(/is not valid/);
});

test("a schema name may have 63 characters", async () => {
  await postgresStore(pool, { schema: "a".repeat(63) }).migrate();
});

test("what PostgreSQL has no letter for is kept as well as may be", async () => {
  const store = postgresStore(pool, { schema: newSchema() });
  await store.migrate();
  const message = messageWith({ id: "a\0b", type: "\0", subject: "\0" });
  await store.fail(await claimed(store, message), { error: "zero\0", next: { kind: "dead" } });
  expect(await store.claim(message, terms)).toEqual({ kind: "dead" });
  const [letter] = await store.deadLetters.list({ limit: 1 });
  expect(letter).toMatchObject({ error: "zero\uFFFD", message: { id: "a\uFFFDb", body: message.body } });
  expect(letter && (await store.deadLetters.discard(letter.message))).toBe(true);
});

async function makeRole() {
  const name = `role_${randomBytes(6).toString("hex")}`;
  await pool.query(`create role ${name} login password 'test'`);
  const url = new URL(database.connectionString);
  url.searchParams.set("user", name);
  url.searchParams.set("password", "test");
  const own = createPool(url.href, { max: 1 });
  onTestFinished(async () => {
    await own.end();
    await pool.query(`drop owned by ${name} cascade`);
    await pool.query(`drop role ${name}`);
  });
  return { name, pool: own };
}
