import { afterAll, expect, test } from "vitest";
import { createDatabase, createPool } from "../../../../../tests/support/database/postgres.ts";
import { claimAccepted, defaults, messageWith } from "../../../../../tests/support/receiver/store-world.ts";
import { inlined } from "./inlined.ts";
import { postgresStore } from "./postgres-store.ts";

const database = await createDatabase();
const pool = createPool(database.connectionString, { max: 4 });
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const texts = [
  "",
  "evt_1",
  "'",
  "\\",
  "\\'; drop table effects; --",
  "$1 $$ $x$",
  "%s :name ?",
  "line\nbreak\ttab",
  "zażółć 事件 🐘",
  "\u007f",
];

test.each(["on", "off"])(
  "every text is the same text with standard_conforming_strings %s",
  async (setting) => {
    for (const text of texts) {
      const statement = inlined({ text: "select $1::text as a, $2::text as b", values: [text, `x${text}`] });
      const results = await pool.query(`set local standard_conforming_strings = ${setting}; ${statement}`);
      expect((results as unknown as { rows: unknown[] }[])[1]?.rows).toEqual([{ a: text, b: `x${text}` }]);
    }
  },
);

test("numbers, booleans and null keep their values", async () => {
  const types =
    "$1::bigint::text as a, $2::double precision as b, $3::double precision as c, $4::boolean as d, $5::text as e";
  const values = [Number.MAX_SAFE_INTEGER, 0.25, Infinity, false, null];
  const { rows } = await pool.query(inlined({ text: `select ${types}`, values }));
  expect(rows).toEqual([{ a: "9007199254740991", b: 0.25, c: Infinity, d: false, e: null }]);
});

test("messages with any id and subject are handled once, from a delivery and from the inbox", async () => {
  const store = postgresStore(pool);
  await store.migrate();
  const ordered = { ...defaults, order: { gapWaitMs: 0 } };
  for (const name of texts.filter((text) => text !== "")) {
    const message = messageWith({ id: name, subject: name, sequence: 1 });
    expect(await store.transactions?.run(message, ordered, async () => {})).toEqual({ kind: "worked" });
    expect(await store.transactions?.run(message, ordered, async () => {})).toEqual({ kind: "done" });
    const claim = await claimAccepted(
      store,
      messageWith({ id: `${name} again`, subject: name, sequence: 2 }),
    );
    expect(await store.transactions?.finish(claim, async () => {})).toBe(true);
  }
});
