// Pages of lists. A page is limited in bytes as well as in rows: 250 events of 256 KB would be 64 MB.
import type { Uuid } from "../../model.ts";

/** Newest first, from the id before `before`. */
export interface IdPage {
  readonly before: Uuid;
  readonly limit: number;
}

export interface IdRange extends IdPage {
  readonly notBefore: Uuid;
}

/** Null matches everything. */
export type Filter<Name extends string> = { readonly [name in Name]: string | null };

/** A page ends with the row that reaches this size, so it has at least one row. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Number of rows of the page before the limit on bytes. */
export interface PageOfBytes {
  readonly rowsFound: number;
}

/**
 * Columns of the page's rows, and the condition for those that are returned. The length of a value is known without
 * reading it, so omitted values are not fetched.
 */
export const pageBytes = (length: string, order: string) => ({
  columns: `sum(${length}) over (order by ${order} rows unbounded preceding) - (${length}) as bytes_before,
    count(*) over ()::integer as "rowsFound"`,
  isShown: `bytes_before < ${MAX_PAGE_BYTES}`,
});

/** Returns whether rows were omitted for their size. */
export function isCutShort(rows: readonly PageOfBytes[]): boolean {
  return rows.length < (rows[0]?.rowsFound ?? 0);
}
