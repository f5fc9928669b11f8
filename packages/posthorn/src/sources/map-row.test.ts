import { expect, test } from "vitest";
import { resolveConfig } from "../config.ts";
import { columnsOf, mapRow } from "./map-row.ts";
import type { SourceOptions, SourceTable } from "./options.ts";

function tableOf(options: Partial<SourceOptions>): SourceTable {
  const base = { name: "shop", kind: "replication", table: "outbox" } as const;
  const columns = { id: "id", tenant: "customer", type: "kind", subject: "about", data: "body" };
  const sources = [{ ...base, columns, ...options }];
  return resolveConfig({ database: "postgresql://127.0.0.1/x", sources }).sources[0]?.table as SourceTable;
}

const row = {
  id: "7",
  customer: "acme",
  kind: "order.paid",
  about: "order-7",
  body: '{"total":1.0}',
  state: "ready",
};

test("a row becomes an event with the bytes of its data and a key of its id", () => {
  expect(mapRow("shop", tableOf({}), row)).toEqual({
    tenant: "acme",
    type: "order.paid",
    subject: "order-7",
    apiVersion: undefined,
    idempotencyKey: "shop/7",
    rawData: Buffer.from('{"total":1.0}'),
  });
});

test("fixed values take the place of columns", () => {
  const table = tableOf({
    columns: { id: "id", data: "body" },
    values: { tenant: "umbrella", type: "row.added", apiVersion: "2" },
  });
  expect(mapRow("shop", table, row)).toMatchObject({
    tenant: "umbrella",
    type: "row.added",
    apiVersion: "2",
  });
});

test("NULL means no subject, and no data or tenant, which validation rejects", () => {
  const mapped = mapRow("shop", tableOf({}), { ...row, about: null, body: null, customer: null });
  expect(mapped).toMatchObject({ tenant: "", subject: undefined });
  expect(mapped).not.toHaveProperty("rawData");
});

test("the filter compares texts, numbers and booleans with PostgreSQL's text", () => {
  const table = tableOf({ filter: { state: ["ready", "sent"], live: true, shard: 3 } });
  const matching = { ...row, live: "t", shard: "3" };
  expect(mapRow("shop", table, matching)).not.toBeNull();
  for (const other of [{ state: "draft" }, { live: "f" }, { shard: "30" }, { state: null }])
    expect(mapRow("shop", table, { ...matching, ...other })).toBeNull();
  expect(columnsOf(table)).toEqual(["id", "customer", "kind", "about", "body", "state", "live", "shard"]);
});
