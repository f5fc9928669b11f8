// The text of exported rows.
import { expect, test } from "vitest";
import { RawJson, rowWriter } from "./export-text.ts";

const columns = ["id", "note", "count", "more"];
const csv = rowWriter("csv", columns);

test("a row of NDJSON has its fields and the exact bytes of raw JSON", () => {
  const { head, line } = rowWriter("ndjson", columns);
  expect(head).toBe("");
  expect(line({ id: "a\nb", note: null, more: new RawJson('{"b":1.0}') })).toBe(
    '{"id":"a\\nb","note":null,"more":{"b":1.0}}\n',
  );
});

test("CSV has a header, quoted text, empty cells for null, and JSON for nested values", () => {
  expect(csv.head).toBe('"id","note","count","more"\r\n');
  expect(csv.line({ id: 'say "hi", twice', note: null, count: 7, more: { a: [1] } })).toBe(
    '"say ""hi"", twice",,7,"{""a"":[1]}"\r\n',
  );
  expect(csv.line({ id: new Date(0), note: "two\nlines", more: new RawJson("1.0") })).toBe(
    '"1970-01-01T00:00:00.000Z","two\nlines",,"1.0"\r\n',
  );
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
