import { expect, test } from "vitest";
import { PosthornError } from "../errors.ts";
import { QueryReader, toPage } from "./page.ts";

const rows = ["a", "b", "c"];
const pageOf = (limit: number) =>
  toPage(
    "letters",
    rows,
    limit,
    (row) => row,
    (row) => row,
  );

test("a page has a cursor only when there is a next one", () => {
  expect(pageOf(3)).toEqual({ data: rows, nextCursor: null });
  expect(pageOf(2)).toEqual({ data: ["a", "b"], nextCursor: expect.any(String) });
});

test("a cursor contains the key of the last row", () => {
  const cursor = pageOf(2).nextCursor ?? "";
  expect(new QueryReader().cursor("letters", { cursor })).toBe("b");
});

test.each([0, 251, 1.5, Number.NaN, "10"])("a limit of %s is refused", (limit) => {
  expect(problems((reader) => reader.limit({ limit: limit as number }))).toMatchObject([
    { pointer: "/limit" },
  ]);
});

test.each([
  "",
  "x",
  "!!",
  Buffer.from("others:b").toString("base64url"),
  Buffer.from("letters:").toString("base64url"),
  Buffer.from("letters:a\0").toString("base64url"),
])("the cursor %j is refused", (cursor) => {
  expect(problems((reader) => reader.cursor("letters", { cursor }))).toMatchObject([{ pointer: "/cursor" }]);
});

test("a list of ids refuses a cursor without an id", () => {
  const cursor = pageOf(2).nextCursor ?? "";
  expect(problems((reader) => reader.idRange("letters", { cursor }))).toMatchObject([{ pointer: "/cursor" }]);
});

test("times become bounds on the id", () => {
  const range = new QueryReader().idRange("letters", {
    createdAfter: new Date(0x1234),
    createdBefore: new Date(0x1235),
  });
  expect(range).toEqual({
    notBefore: "00000000-1234-0000-0000-000000000000",
    before: "00000000-1235-0000-0000-000000000000",
  });
});

test("times beyond the range of ids exclude nothing", () => {
  const range = new QueryReader().idRange("letters", { createdAfter: new Date(-5) });
  expect(range.notBefore).toBe("00000000-0000-0000-0000-000000000000");
});

test("an invalid date is refused", () => {
  expect(problems((reader) => reader.idRange("letters", { createdAfter: new Date("x") }))).toHaveLength(1);
});

test("an unknown filter is refused", () => {
  expect(problems(() => {}, { colour: "red" })).toMatchObject([{ pointer: "/colour" }]);
});

function problems(work: (reader: QueryReader) => unknown, query: object = {}) {
  const reader = new QueryReader();
  work(reader);
  try {
    reader.finish(["limit", "cursor"], query);
  } catch (error) {
    if (error instanceof PosthornError && error.code === "invalid_query") return error.problems;
    throw error;
  }
  throw new Error("nothing was refused");
}
