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

test("rows above a known row are new", () => {
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

test("new rows cannot be counted if the page has no row in common with the list", () => {
  expect(comparePages([row(2), row(1)], false, keyOf, page([9, 8], "more"))).toEqual({
    count: 0,
    isMore: true,
  });
});

test("an empty list that now has more than a page has changed", () => {
  expect(comparePages([], true, keyOf, page([9, 8], "more"))).toEqual({ count: 0, isMore: true });
});

test("in a list that is loaded completely, every row that is not shown is new", () => {
  expect(comparePages([], true, keyOf, page([1, 2]))).toEqual({ count: 2, isMore: false });
  expect(comparePages([row(1), row(2)], true, keyOf, page([1, 2]))).toEqual({ count: 0, isMore: false });
});

test("a missing row is reported even if no row is new", () => {
  expect(comparePages([row(3), row(2)], true, keyOf, page([3]))).toEqual({ count: 0, isMore: true });
});
