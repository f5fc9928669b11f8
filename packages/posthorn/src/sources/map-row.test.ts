import { expect, test } from "vitest";
import { resolveConfig } from "../config.ts";
import { columnsOf, mapRow } from "./map-row.ts";
import type { SourceOptions, SourceTable } from "./options.ts";
import type { Row } from "./reader.ts";

function tableOf(options: Partial<SourceOptions>): SourceTable {
  const base = { name: "shop", kind: "replication", table: "outbox" } as const;
  const columns = { id: "id", tenant: "customer", type: "kind", subject: "about", data: "body" };
  const sources = [{ ...base, columns, ...options }];
  return resolveConfig({ database: "postgresql://127.0.0.1/x", sources }).sources[0]?.table as SourceTable;
}

const row: Row = {
  id: "7",
  tenant: "acme",
  type: "order.paid",
  subject: "order-7",
  data: '{"total":1.0}',
  dataBytes: 13,
};

test("a row becomes an event with the bytes of its data and a key of its id", () => {
  expect(mapRow("shop", tableOf({}), row)).toEqual({
    input: {
      tenant: "acme",
      type: "order.paid",
      subject: "order-7",
      apiVersion: undefined,
      idempotencyKey: "shop/7",
      rawData: Buffer.from('{"total":1.0}'),
    },
  });
});

test("fixed values take the place of columns", () => {
  const table = tableOf({
    columns: { id: "id", data: "body" },
    values: { tenant: "umbrella", type: "row.added", apiVersion: "2" },
  });
  expect(mapRow("shop", table, { id: "7", data: "1", dataBytes: 1 })).toMatchObject({
    input: { tenant: "umbrella", type: "row.added", apiVersion: "2" },
  });
});

test("NULL means no subject, and no data or tenant, which validation rejects", () => {
  const { input } = mapRow("shop", tableOf({}), {
    ...row,
    subject: null,
    data: null,
    dataBytes: 0,
    tenant: null,
  });
  expect(input).toMatchObject({ tenant: "", subject: undefined });
  expect(input).not.toHaveProperty("rawData");
});

test("a row is too large from one byte above the largest payload", () => {
  expect(mapRow("shop", tableOf({}), { ...row, dataBytes: 262_144 })).not.toHaveProperty("tooLarge");
  expect(mapRow("shop", tableOf({}), { ...row, data: null, dataBytes: 262_145 }).tooLarge).toMatchObject({
    code: "payload_too_large",
    message: expect.stringContaining("262145 bytes; the limit is 262144"),
  });
});

test("every column that is mapped or filtered is needed, each once", () => {
  const table = tableOf({ filter: { state: ["ready", "sent"], kind: "order.paid" } });
  expect(columnsOf(table)).toEqual(["id", "customer", "kind", "about", "body", "state"]);
});
