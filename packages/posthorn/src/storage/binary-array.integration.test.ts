// PostgreSQL reads what the encoders write.
import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { createDatabase, createPool } from "../../../../tests/support/database/postgres.ts";
import {
  byteaArray,
  float8Array,
  int2Array,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
} from "./binary-array.ts";

const database = await createDatabase();
const pool = createPool(database.connectionString);
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
  ["uuid", uuidArray, []],
  ["smallint", int2Array, [-32_768, 0, null, 32_767]],
  ["integer", int4Array, [-2_147_483_648, null, 2_147_483_647]],
  ["bigint", int8Array, [null, Number.MAX_SAFE_INTEGER, -1]],
  ["double precision", float8Array, [0.1, -1e300, null]],
  ["text", textArray, ["", 'a,b"{}\\', null, "ünïcödé 🎺"]],
  ["bytea", byteaArray, [Buffer.alloc(0), null, Buffer.from([0, 255, 10])]],
] as const)("%s, with nulls and extremes", async (type, encode, values) => {
  const asText = async (array: unknown) =>
    (await pool.query(`select item::text from unnest($1::${type}[]) as t (item)`, [array])).rows;
  expect(await asText((encode as (values: readonly unknown[]) => Buffer)(values))).toEqual(
    await asText(values),
  );
});
