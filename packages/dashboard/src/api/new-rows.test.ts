import { expect, test } from "vitest";
import { comparePages, countNewRows } from "./new-rows.ts";

interface Row {
  readonly id: string;
  readonly created_at: string;
}
const row = (number: number): Row => ({ id: `r${number}`, created_at: `2026-01-01T00:00:0${number}.000Z` });
const keyOf = ({ id }: Row) => id;
const told = (number: number, isOfList = true) => ({
  key: `r${number}`,
  row: null,
  createdAt: isOfList ? row(number).created_at : null,
});
const page = (numbers: readonly number[], next_cursor: string | null = null) => ({
  data: numbers.map(row),
  next_cursor,
});

test("what is not shown is counted once, and what is shown already is not", () => {
  expect(countNewRows([row(3), row(2)], false, keyOf, [told(3), told(4), told(5)])).toBe(2);
});

test("what belongs further down than was loaded is no newRows, unless all was loaded", () => {
  expect(countNewRows([row(5), row(4)], false, keyOf, [told(1)])).toBe(0);
  expect(countNewRows([row(5), row(4)], true, keyOf, [told(1)])).toBe(1);
});

test("what does not pass the filters is not counted", () => {
  expect(countNewRows([row(1)], true, keyOf, [told(4, false)])).toBe(0);
});

test("rows above one that was there before are new", () => {
  expect(comparePages([row(3), row(2)], false, keyOf, page([5, 4, 3], "more"))).toEqual({
    count: 2,
    isMore: false,
  });
});

test("rows that only move up from the next page are not new", () => {
  expect(comparePages([row(3), row(2)], false, keyOf, page([2, 1], "more"))).toEqual({
    count: 0,
    isMore: true,
  });
});

test("a page that has nothing in common with what is shown is more than can be counted", () => {
  expect(comparePages([row(2), row(1)], false, keyOf, page([9, 8], "more"))).toEqual({
    count: 0,
    isMore: true,
  });
});

test("an empty list that has more than a page by now has changed", () => {
  expect(comparePages([], true, keyOf, page([9, 8], "more"))).toEqual({ count: 0, isMore: true });
});

test("of a list that is whole, all that is not shown is new, and the same again is no newRows", () => {
  expect(comparePages([], true, keyOf, page([1, 2]))).toEqual({ count: 2, isMore: false });
  expect(comparePages([row(1), row(2)], true, keyOf, page([1, 2]))).toEqual({ count: 0, isMore: false });
});

test("a row that is gone is told of, also where nothing is new", () => {
  expect(comparePages([row(3), row(2)], true, keyOf, page([3]))).toEqual({ count: 0, isMore: true });
});
