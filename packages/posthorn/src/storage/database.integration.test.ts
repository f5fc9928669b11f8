// Transactions of a frozen or disconnected process: the server must not keep their locks.
import { expect, onTestFinished, test } from "vitest";
import { createDatabase, createPool } from "../../../../tests/support/database/postgres.ts";
import { Database, isUnavailable } from "./database.ts";
import { statement } from "./sql.ts";

const readPatience = statement(
  "read patience",
)`select current_setting('idle_in_transaction_session_timeout') as patience`;
const losePatience = statement(
  "lose patience",
)`select set_config('idle_in_transaction_session_timeout', '20ms', true), pg_backend_pid() as pid`;

async function openDatabase() {
  const { connectionString, drop } = await createDatabase();
  const db = new Database({ database: connectionString, schema: "posthorn", maxConnections: 1 });
  const pool = createPool(connectionString);
  onTestFinished(async () => {
    await db.close();
    await pool.end();
    await drop();
  });
  return { db, pool };
}

test("the server ends a transaction after ten idle seconds, and only that transaction has the limit", async () => {
  const { db } = await openDatabase();
  const [before] = await db.query<{ patience: string }>(readPatience);
  expect(await db.transaction((tx) => tx.query(readPatience))).toEqual([{ patience: "10s" }]);
  expect(await db.query(readPatience)).toEqual([before]);
});

test("a client whose idle transaction was ended gets an outage error, changed nothing, and can continue", async () => {
  const { db, pool } = await openDatabase();
  await pool.query("create table things (id integer)");
  const backends = async (pid: number): Promise<number> =>
    (await pool.query("select from pg_stat_activity where pid = $1", [pid])).rows.length;
  const outcome = await db
    .transaction(async (tx) => {
      await tx.query(statement("add thing")`insert into things values (1)`);
      const [row] = await tx.query<{ pid: number }>(losePatience);
      await expect.poll(() => backends((row as { pid: number }).pid)).toBe(0);
    })
    .catch((error: unknown) => error);
  expect(isUnavailable(outcome)).toBe(true);
  expect((await pool.query("select from things")).rows).toHaveLength(0);
  expect(await db.query(statement("ask")`select 1 as one`)).toEqual([{ one: 1 }]);
});

test("an internal error that ends the connection counts as an outage, that of a statement does not", () => {
  const error = { code: "XX000", message: 'could not write init file "pg_internal.init"' };
  expect(isUnavailable({ ...error, severity: "FATAL" })).toBe(true);
  expect(isUnavailable({ ...error, severity: "ERROR" })).toBe(false);
});

test("the server's error for an ended idle transaction counts as an outage", () => {
  expect(isUnavailable({ code: "25P03", message: "terminating connection" })).toBe(true);
});
