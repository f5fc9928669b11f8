import { expect, test } from "vitest";
import { comparePages, countNewRows } from "./new-rows.ts";

interface Row {
  readonly id: string;
  readonly created_at: string;
}
const row = (number: number): Row => ({ id: `r${number}`, created_at: `2026-01-01T00:00:0${number}.000Z` });
const keyOf = ({ id }: Row) => id;
const change = (number: number, isOfList = true) => ({
  key: `r${number}`,
  row: null,
  createdAt: isOfList ? row(number).created_at : null,
});
const page = (numbers: readonly number[], next_cursor: string | null = null) => ({
  data: numbers.map(row),
  next_cursor,
});

test("rows that are not shown are counted once, and shown rows are not", () => {
  expect(countNewRows([row(3), row(2)], false, keyOf, [change(3), change(4), change(5)])).toBe(2);
});

test("a row below the loaded part is not new, unless the whole list is loaded", () => {
  expect(countNewRows([row(5), row(4)], false, keyOf, [change(1)])).toBe(0);
  expect(countNewRows([row(5), row(4)], true, keyOf, [change(1)])).toBe(1);
});

test("a row that does not match the filters is not counted", () => {
  expect(countNewRows([row(1)], true, keyOf, [change(4, false)])).toBe(0);
});

test.each([
  ["rows above a known row are new", [3, 2], false, page([5, 4, 3], "more"), 2, false],
  ["rows that only move up from the next page are not new", [3, 2], false, page([2, 1], "more"), 0, true],
  ["without a common row nothing can be counted", [2, 1], false, page([9, 8], "more"), 0, true],
  ["an empty list that now has more than a page has changed", [], true, page([9, 8], "more"), 0, true],
  ["every row of a complete list that is not shown is new", [], true, page([1, 2]), 2, false],
  ["shown rows of a complete list are not new", [1, 2], true, page([1, 2]), 0, false],
  ["a missing row is reported even if no row is new", [3, 2], true, page([3]), 0, true],
] as const)("%s", (_, shown, isWhole, newest, count, isMore) => {
  expect(comparePages(shown.map(row), isWhole, keyOf, newest)).toEqual({ count, isMore });
});
