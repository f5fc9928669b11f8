import { expect, test } from "vitest";
import { type KnownPages, NO_PAGES, positionOf, rowCount, withPage } from "./known-pages.ts";

const rows = (count: number) => Array.from({ length: count });
const three: KnownPages = [
  { cursor: null, size: 100 },
  { cursor: "a", size: 100 },
  { cursor: "b", size: 100 },
];

test("a loaded page makes the next one known, except the last page", () => {
  const first = withPage(NO_PAGES, 0, { data: rows(100), next_cursor: "a" });
  expect(first).toEqual([
    { cursor: null, size: 100 },
    { cursor: "a", size: 0 },
  ]);
  const second = withPage(first, 1, { data: rows(7), next_cursor: null });
  expect(rowCount(second)).toBe(107);
  expect(second).toHaveLength(2);
});

test("reloading a page with the same end changes nothing", () => {
  expect(withPage(three, 1, { data: rows(100), next_cursor: "b" })).toBe(three);
});

test("a page with another end forgets the pages after it and keeps the height of the next one", () => {
  expect(withPage(three, 0, { data: rows(100), next_cursor: "other" })).toEqual([
    { cursor: null, size: 100 },
    { cursor: "other", size: 100 },
  ]);
  expect(withPage(three, 1, { data: rows(4), next_cursor: null })).toEqual([
    { cursor: null, size: 100 },
    { cursor: "a", size: 4 },
  ]);
});

test("a row is found in its page; past the last row it is in the next page to load", () => {
  expect(positionOf(three, 0)).toEqual({ page: 0, row: 0 });
  expect(positionOf(three, 99)).toEqual({ page: 0, row: 99 });
  expect(positionOf(three, 100)).toEqual({ page: 1, row: 0 });
  expect(positionOf([...three, { cursor: "c", size: 0 }], 300).page).toBe(3);
  expect(positionOf(three, -5)).toEqual({ page: 0, row: 0 });
});
