// PostgreSQL reads what the encoders write.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, createPool, type TestDatabase } from "../../../../tests/support/postgres.ts";
import {
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
} from "./binary-array.ts";

let database: TestDatabase;
let pool: ReturnType<typeof createPool>;

beforeAll(async () => {
  database = await createDatabase();
  pool = createPool(database.connectionString);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test.each([
  [
    "uuid",
    uuidArray,
    ["00000000-0000-0000-0000-000000000000", randomUUID(), null, "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  ],
  ["smallint", int2Array, [-32_768, 0, null, 32_767]],
  ["integer", int4Array, [-2_147_483_648, null, 2_147_483_647]],
  ["bigint", int8Array, [null, Number.MAX_SAFE_INTEGER, -1]],
  ["double precision", float8Array, [0.1, -1e300, null]],
  ["text", textArray, ["", 'a,b"{}\\', null, "ünïcödé 🎺"]],
  ["bytea", byteaArray, [Buffer.alloc(0), null, Buffer.from([0, 255, 10])]],
] as const)("%s, with nulls and extremes", async (type, encode, values) => {
  const encoded = (encode as (values: readonly unknown[]) => Buffer)(values);
  const { rows } = await pool.query(
    `select to_json(item::text) as item from unnest($1::${type}[]) as t (item)`,
    [encoded],
  );
  const expected = await pool.query(
    `select to_json(item::text) as item from unnest($1::${type}[]) as t (item)`,
    [values],
  );
  expect(rows).toEqual(expected.rows);
});

test("an empty array is empty", async () => {
  expect((await pool.query("select cardinality($1::uuid[]) as size", [uuidArray([])])).rows).toEqual([
    { size: 0 },
  ]);
});
