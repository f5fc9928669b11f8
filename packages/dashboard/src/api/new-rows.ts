// New rows since a list was loaded. Loaded rows are updated in place; new ones are counted for a button that shows them.
import type { Page } from "./known-pages.ts";

export interface RowChange<Row> {
  readonly key: string;
  /** The current row; null for resources that never change. */
  readonly row: Row | null;
  /** Its position in a list, newest first; null if it does not match the list or may not be new. */
  readonly createdAt: string | null;
}

export interface NewRows {
  readonly count: number;
  /** The list has changed in a way that cannot be counted. */
  readonly isMore: boolean;
}

export const NO_NEW_ROWS: NewRows = { count: 0, isMore: false };

/** Counts changes that are new rows of a list, newest first. Rows below the loaded part appear on scrolling. */
export function countNewRows<Row>(
  rows: readonly Row[],
  isWhole: boolean,
  keyOf: (row: Row) => string,
  changes: readonly RowChange<Row>[],
): number {
  const known = new Set(rows.map(keyOf));
  const oldest = (rows.at(-1) as { readonly created_at?: string } | undefined)?.created_at ?? "";
  const isInReach = (createdAt: string) => isWhole || createdAt >= oldest;
  return changes.filter(({ key, createdAt }) => createdAt !== null && !known.has(key) && isInReach(createdAt))
    .length;
}

/**
 * Compares the polled first page with the shown rows. Unknown rows above the last common row are new; rows below it were
 * not loaded before, unless the whole list was.
 */
export function comparePages<Row>(
  rows: readonly Row[],
  isWhole: boolean,
  keyOf: (row: Row) => string,
  newest: Page<Row>,
): NewRows {
  const shown = new Set(rows.map(keyOf));
  const last = newest.data.findLastIndex((row) => shown.has(keyOf(row)));
  const areBothWhole = isWhole && newest.next_cursor === null;
  if (last === -1 && !areBothWhole) return { count: 0, isMore: newest.data.length > 0 || rows.length > 0 };
  const reach = areBothWhole ? newest.data.length : last + 1;
  const count = newest.data.slice(0, reach).filter((row) => !shown.has(keyOf(row))).length;
  return { count, isMore: hasMissingRows(rows, keyOf, newest) };
}

function hasMissingRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  { data, next_cursor }: Page<Row>,
): boolean {
  const there = new Set(data.map(keyOf));
  const last = next_cursor === null ? rows.length - 1 : rows.findLastIndex((row) => there.has(keyOf(row)));
  return rows.slice(0, last + 1).some((row) => !there.has(keyOf(row)));
}
