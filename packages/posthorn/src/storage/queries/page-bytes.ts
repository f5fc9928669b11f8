// A page of a list is bounded in bytes as well as in rows: 250 events of 256 KB each would be an answer of 64 MB.

/** A page goes no further than the row with which it reaches this; so it has one row at least. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** How many rows there were for the page before its bytes were counted. */
export interface PageOfBytes {
  readonly rowsFound: number;
}

/**
 * Columns for the rows of a page, and the condition for those that are shown. The length of a value is known without
 * reading it, so what is left out is not fetched.
 */
export const pageBytes = (length: string, order: string) => ({
  columns: `sum(${length}) over (order by ${order} rows unbounded preceding) - (${length}) as bytes_before,
    count(*) over ()::integer as "rowsFound"`,
  isShown: `bytes_before < ${MAX_PAGE_BYTES}`,
});

/** True when rows were left out for their bytes. */
export function isCutShort(rows: readonly PageOfBytes[]): boolean {
  return rows.length < (rows[0]?.rowsFound ?? 0);
}
