import { expect, test } from "vitest";
import { readPage, readTimedPage, TIME_RANGE, toPage, UUID } from "./page.ts";
import { id, oneOf, text } from "./read-fields.ts";

const rows = ["a", "b", "c"];
const same = (row: string) => row;
const pageOf = (limit: number) => toPage("letters", rows, limit, same, same);
const encoded = (text: string) => Buffer.from(text).toString("base64url");

test("a page has a cursor, which contains the key of its last row, only when there is a next one", () => {
  expect(pageOf(3)).toEqual({ data: rows, nextCursor: null });
  const { data, nextCursor } = pageOf(2);
  expect(data).toEqual(["a", "b"]);
  expect(readPage("letters", { cursor: nextCursor ?? "" }, {})).toEqual({ limit: 50, cursor: "b" });
});

test.each<[field: string, query: object, key?: string]>([
  ["limit", { limit: 0 }],
  ["limit", { limit: 251 }],
  ["limit", { limit: 1.5 }],
  ["limit", { limit: "10" }],
  ["cursor", { cursor: "" }],
  ["cursor", { cursor: "!!" }],
  ["cursor", { cursor: encoded("others:b") }],
  ["cursor", { cursor: encoded("letters:") }],
  ["cursor", { cursor: encoded("letters:a\0") }],
  ["cursor", { cursor: encoded("letters:b") }, UUID],
  ["createdAfter", { createdAfter: new Date("x") }],
  ["createdAfter", { createdAfter: "2026-01-01" }],
  ["endpoint", { endpoint: "ep_x" }],
  ["state", { state: "done" }],
  ["tenant", { tenant: "" }],
  ["colour", { colour: "red" }],
])("a wrong %s is refused: %j", (field, query, key) => {
  const problems = [expect.objectContaining({ pointer: `/${field}` })];
  const refusal = expect.objectContaining({ code: "invalid_query", problems });
  const filters = { ...TIME_RANGE, endpoint: id("ep"), state: oneOf(["dead"]), tenant: text() };
  expect(() => readPage("letters", query, filters, key)).toThrow(refusal);
});

test("times become bounds on the id, and those beyond the range of ids exclude nothing", () => {
  const rangeOf = (query: object) => readTimedPage("letters", query, {});
  expect(rangeOf({ createdAfter: new Date(0x1234), createdBefore: new Date(0x1235) })).toEqual({
    limit: 50,
    notBefore: "00000000-1234-0000-0000-000000000000",
    before: "00000000-1235-0000-0000-000000000000",
  });
  expect(rangeOf({ createdAfter: new Date(-5) }).notBefore).toBe("00000000-0000-0000-0000-000000000000");
});
