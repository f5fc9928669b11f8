// What has come since a list was loaded. Nobody's rows move: those that are there are brought up to date where they stand,
// and those that are not are counted, for a button that shows them.

/** Something that happened to a row, or that it has come to be. */
export interface Told<Row> {
  readonly key: string;
  /** As it is now; null where it cannot have changed. */
  readonly row: Row | null;
  /** Where it stands in a list from new to old; null: it is no row of this list, or not known to be a new one. */
  readonly createdAt: string | null;
}

export interface News {
  readonly count: number;
  /** The list is not what it was, and nobody counted. */
  readonly isMore: boolean;
}

export const NO_NEWS: News = { count: 0, isMore: false };

/** Of a list from new to old. What belongs further down than was loaded appears when it is scrolled to. */
export function countTold<Row>(
  rows: readonly Row[],
  isWhole: boolean,
  keyOf: (row: Row) => string,
  told: readonly Told<Row>[],
): number {
  const known = new Set(rows.map(keyOf));
  const oldest = (rows.at(-1) as { readonly created_at?: string } | undefined)?.created_at ?? "";
  const isInReach = (createdAt: string) => isWhole || createdAt >= oldest;
  return told.filter(({ key, createdAt }) => createdAt !== null && !known.has(key) && isInReach(createdAt))
    .length;
}

/**
 * The first page, asked for again, beside the one that is shown. Rows above the last that both have are new; below it
 * begins what was not loaded before, unless all was.
 */
export function comparePages<Row>(
  rows: readonly Row[],
  isWhole: boolean,
  keyOf: (row: Row) => string,
  newest: { readonly data: readonly Row[]; readonly next_cursor: string | null },
): News {
  const shown = new Set(rows.map(keyOf));
  const last = newest.data.findLastIndex((row) => shown.has(keyOf(row)));
  const areBothWhole = isWhole && newest.next_cursor === null;
  if (last === -1 && !areBothWhole) return { count: 0, isMore: newest.data.length > 0 || rows.length > 0 };
  const reach = areBothWhole ? newest.data.length : last + 1;
  const count = newest.data.slice(0, reach).filter((row) => !shown.has(keyOf(row))).length;
  return { count, isMore: hasLost(rows, keyOf, newest) };
}

/** Some of what is shown above the end of the new page is not there any more. */
function hasLost<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  { data, next_cursor }: { readonly data: readonly Row[]; readonly next_cursor: string | null },
): boolean {
  const there = new Set(data.map(keyOf));
  const last = next_cursor === null ? rows.length - 1 : rows.findLastIndex((row) => there.has(keyOf(row)));
  return rows.slice(0, last + 1).some((row) => !there.has(keyOf(row)));
}
