import { randomBytes } from "node:crypto";
import { migrations, postgresStore } from "@posthorn/receiver/postgres";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, createPool } from "../../../../../tests/support/database/postgres.ts";
import { claimed, defaults, messageWith } from "../../../../../tests/support/receiver/store-world.ts";

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

test("ten processes that migrate at once apply each version once", async () => {
  const schema = newSchema();
  await Promise.all(Array.from({ length: 10 }, () => postgresStore(pool, { schema }).migrate()));
  expect(await versions(schema)).toEqual(all);
});

test("a store that was not migrated names store.migrate() in its errors", async () => {
  const schema = newSchema();
  const store = postgresStore(pool, { schema });
  const claim = () => store.claim(messageWith(), defaults);
  const work = () => store.transactions?.run(messageWith(), defaults, async () => {});
  const count = () => store.deadLetters.count();
  for (const step of [claim, work, count]) {
    await expect(step()).rejects.toThrow("run store.migrate() first");
  }
});

test("a missing table of a handler gets no migration hint", async () => {
  const store = postgresStore(pool, { schema: newSchema() });
  await store.migrate();
  const missing = store.transactions?.run(messageWith(), defaults, async (tx) => {
    await tx.query("select * from nowhere");
  });
  await expect(missing).rejects.toThrow('relation "nowhere" does not exist');
});

test("a role that cannot create schemas uses an existing one", async () => {
  const role = await makeRole();
  const schema = newSchema();
  await pool.query(`create schema "${schema}" authorization ${role.name}`);
  const store = postgresStore(role.pool, { schema });
  await store.migrate();
  expect((await store.claim(messageWith(), defaults)).kind).toBe("claimed");
});

test("a role that only receives needs just the privileges that the reference lists", async () => {
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
  expect(await transactions?.run(messageWith(), defaults, async () => {})).toEqual({ kind: "worked" });
  await store.accept(messageWith({ subject: "order/1", sequence: 1 }), defaults);
  const [claim] = await store.claimDue(1, { ...defaults, order: { gapWaitMs: 0 } });
  expect(claim && (await store.fail(claim, { error: "no", next: { kind: "dead" } }))).toBe(true);
  expect(await store.deadLetters.count()).toBe(1);
  expect(claim && (await store.deadLetters.requeue(claim.message))).toBe(true);
  expect(await store.prune(10, { windowMs: 0 })).toBeGreaterThan(0);
});

test("the error for a role without privileges names the statement to run", async () => {
  const role = await makeRole();
  const schema = newSchema();
  await expect(postgresStore(role.pool, { schema }).migrate()).rejects.toThrow(
    `create schema "${schema}" authorization`,
  );
});

test("a database of a newer version is rejected", async () => {
  const schema = newSchema();
  const store = postgresStore(pool, { schema });
  await store.migrate();
  await pool.query(`insert into "${schema}".versions (version, name) values (${all.length + 1}, 'later')`);
  await expect(store.migrate()).rejects.toThrow(/Update the package/);
});

test.each(["", "1st", 'a"b', "a.b", "a".repeat(64)])("the schema name %j is rejected", (schema) => {
  expect(() => postgresStore(pool, { schema })).toThrow(/is not valid/);
});

test("a schema name may have 63 characters", async () => {
  await postgresStore(pool, { schema: "a".repeat(63) }).migrate();
});

test("characters that PostgreSQL cannot store are replaced", async () => {
  const store = postgresStore(pool, { schema: newSchema() });
  await store.migrate();
  const message = messageWith({ id: "a\0b", type: "\0", subject: "\0" });
  await store.fail(await claimed(store, message), { error: "zero\0", next: { kind: "dead" } });
  expect(await store.claim(message, defaults)).toEqual({ kind: "dead" });
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
