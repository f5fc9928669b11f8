// The text of exported rows.
import { expect, test } from "vitest";
import { z } from "zod";
import { RawJson, rowWriter } from "./export-text.ts";

const schema = z.object({ id: z.any(), note: z.any(), count: z.any(), more: z.any() });
const csv = rowWriter("csv", schema);

test("a row of NDJSON has its fields and the exact bytes of raw JSON", () => {
  const { head, line } = rowWriter("ndjson", schema);
  expect(head).toBe("");
  expect(line({ id: "a\nb", note: null, more: new RawJson('{"b":1.0}') })).toBe(
    '{"id":"a\\nb","note":null,"more":{"b":1.0}}\n',
  );
});

test("CSV has a header, quoted text, empty cells for null, and JSON for values of any shape", () => {
  expect(csv.head).toBe('"id","note","count","more"\r\n');
  expect(csv.line({ id: 'say "hi", twice', note: null, count: 7, more: { a: [1] } })).toBe(
    '"say ""hi"", twice",,7,"{""a"":[1]}"\r\n',
  );
  expect(csv.line({ id: new Date(0), note: "two\nlines", more: new RawJson("1.0") })).toBe(
    '"1970-01-01T00:00:00.000Z","two\nlines",,"1.0"\r\n',
  );
});

test("CSV has a column for each known field of a nested object", () => {
  const wait = z.object({
    reason: z.string(),
    until: z.string().nullable(),
    more: z.record(z.string(), z.int()),
  });
  const { head, line } = rowWriter(
    "csv",
    z.object({ id: z.string(), wait: wait.nullable().optional(), n: z.int() }),
  );
  expect(head).toBe('"id","wait_reason","wait_until","wait_more","n"\r\n');
  expect(line({ id: "a", wait: { reason: "circuit", until: null, more: { b: 1 } }, n: 1 })).toBe(
    '"a","circuit",,"{""b"":1}",1\r\n',
  );
  expect(line({ id: "a", wait: null, n: 1 })).toBe('"a",,,,1\r\n');
  expect(line({ id: "a", n: 1 })).toBe('"a",,,,1\r\n');
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])(
  "a spreadsheet does not run %j as a formula",
  (text) => {
    expect(csv.line({ id: text })).toBe(`"'${text}",,,\r\n`);
    expect(csv.line({ more: new RawJson(text) })).toContain(`"'${text}"`);
  },
);

test("text that only contains such characters is unchanged", () => {
  expect(csv.line({ id: "a=b", note: "order-1" })).toBe('"a=b","order-1",,\r\n');
});
