// The options of sources: what is missing, unknown or contradictory is rejected with a message that says what to do.
import { expect, test } from "vitest";
import { type PosthornOptions, resolveConfig } from "../config.ts";
import type { SourceOptions } from "./options.ts";

const resolveSources = (sources: PosthornOptions["sources"]) =>
  resolveConfig({ database: "postgresql://127.0.0.1/x", sources }).sources;

const polling: SourceOptions = {
  name: "shop",
  kind: "polling",
  table: "sales.outbox",
  columns: { id: "id", tenant: "customer", type: "kind", data: "body", updatedAt: "updated_at" },
};
const replication: SourceOptions = {
  name: "shop",
  kind: "replication",
  table: "outbox",
  columns: { id: "id", data: "body" },
  values: { tenant: "acme", type: "order.paid" },
};

test("a source has defaults for everything but its table and mapping", () => {
  expect(resolveSources(undefined)).toEqual([]);
  expect(resolveSources([replication, { ...polling, name: "two" }])).toMatchObject([
    {
      database: null,
      table: { schema: "public", name: "outbox" },
      publication: "posthorn_shop",
      slot: "posthorn_shop",
      maxLagBytes: 10_737_418_240,
    },
    { table: { schema: "sales", name: "outbox" }, intervalMs: 1_000, delayMs: 1_000 },
  ]);
});

test("replication may read messages only", () => {
  const [source] = resolveSources([{ name: "shop", kind: "replication", messagePrefix: "posthorn" }]);
  expect(source).toMatchObject({ table: null, messagePrefix: "posthorn" });
});

test.each<[SourceOptions | unknown, RegExp]>([
  [{ ...polling, name: "Shop" }, /name of a source must be 1 to 40 characters of a-z 0-9 _/],
  [{ ...polling, name: "a".repeat(41) }, /1 to 40/],
  [{ ...polling, kind: "polls" }, /sources\.shop\.kind must be one of replication, polling/],
  [{ ...polling, slot: "s" }, /A source of kind polling has no option "slot"/],
  [{ ...polling, tables: "x" }, /Did you mean table\?/],
  [{ ...replication, intervalMs: 500 }, /kind replication has no option "intervalMs"/],
  [{ ...polling, table: undefined, columns: undefined }, /sources\.shop needs table\./],
  [{ name: "shop", kind: "replication" }, /needs table, messagePrefix or both/],
  [{ ...replication, table: undefined, messagePrefix: "p" }, /so it needs table/],
  [{ ...polling, table: "a.b.c" }, /table must be schema\.table/],
  [{ ...polling, columns: undefined }, /columns is missing: name at least the columns id and data/],
  [{ ...polling, columns: { ...polling.columns, updatedAt: undefined } }, /columns\.updatedAt is missing/],
  [{ ...polling, columns: { ...polling.columns, topic: "x" } }, /has no column "topic"/],
  [
    { ...polling, columns: { ...polling.columns, tenant: undefined } },
    /needs tenant in columns or in values/,
  ],
  [{ ...polling, values: { type: "a.b" } }, /has type in columns and in values/],
  [{ ...polling, filter: { status: null } }, /filter: "status" must be text, a number/],
  [{ ...polling, database: "shop" }, /database must be a URL such as postgresql:/],
  [{ ...polling, intervalMs: 99 }, /sources\.shop\.intervalMs must be a whole number from 100 to/],
  [{ ...replication, maxLagBytes: 1_048_575 }, /maxLagBytes must be a whole number from 1048576/],
  [{ ...replication, slot: "My-slot" }, /slot must be 1 to 63 characters of a-z 0-9 _/],
  ["shop", /list of objects/],
])("%j is rejected", (source, message) => {
  expect(() => resolveSources([source as SourceOptions])).toThrow(message);
});

test("the problems of all sources are reported together", () => {
  const wrong = [
    { ...polling, delayMs: -1, intervalMs: 99 },
    { ...polling, name: "Two" },
  ];
  expect(() => resolveSources(wrong)).toThrow(
    expect.objectContaining({
      problems: [
        { pointer: "/sources/shop/intervalMs", message: expect.stringContaining("from 100") },
        { pointer: "/sources/shop/delayMs", message: expect.stringContaining("from 0") },
        { pointer: "/sources", message: expect.stringContaining("The name of a source must be") },
      ],
    }),
  );
});

test("the bounds themselves are accepted, and two sources have different names", () => {
  expect(resolveSources([{ ...polling, name: "a".repeat(40), intervalMs: 100, delayMs: 0 }])).toHaveLength(1);
  expect(resolveSources([{ ...replication, maxLagBytes: 1_048_576, slot: "a".repeat(63) }])).toHaveLength(1);
  expect(() => resolveSources([polling, replication])).toThrow('two sources named "shop"');
});
