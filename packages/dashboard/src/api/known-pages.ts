// Cursors and sizes of the pages of a list that were loaded so far. Rows of distant pages are evicted, so this is all
// that grows with the list: one cursor per hundred rows.

export interface KnownPage {
  /** Null for the first page. */
  readonly cursor: string | null;
  /** 0 until the page is loaded. */
  readonly size: number;
}

export type KnownPages = readonly [KnownPage, ...KnownPage[]];

export const NO_PAGES: KnownPages = [{ cursor: null, size: 0 }];

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** Returns the pages after page `index` was loaded. */
export function withPage(pages: KnownPages, index: number, { data, next_cursor }: Page<unknown>): KnownPages {
  const page = pages[index];
  if (page === undefined) return pages;
  const next = pages[index + 1];
  const size = data.length;
  if (next_cursor === (next?.cursor ?? null)) {
    return size === page.size
      ? pages
      : replaced(pages, index, [{ ...page, size }, ...pages.slice(index + 1)]);
  }
  // The page ends elsewhere than before, so the following pages would leave a gap or repeat rows: they are dropped. The
  // next page keeps its size until it is loaded, so that rows do not move.
  const found = next_cursor === null ? [] : [{ cursor: next_cursor, size: next?.size ?? 0 }];
  return replaced(pages, index, [{ ...page, size }, ...found]);
}

function replaced(pages: KnownPages, index: number, rest: readonly KnownPage[]): KnownPages {
  return [...pages.slice(0, index), ...rest] as unknown as KnownPages;
}

export function rowCount(pages: KnownPages): number {
  return pages.reduce((sum, { size }) => sum + size, 0);
}

/** The page and row of a list index; beyond the last row, the last page. */
export function positionOf(pages: KnownPages, index: number) {
  let start = 0;
  for (const [page, { size }] of pages.entries()) {
    if (index < start + size) return { page, row: Math.max(0, index) - start };
    start += size;
  }
  return { page: pages.length - 1, row: index - start };
}
