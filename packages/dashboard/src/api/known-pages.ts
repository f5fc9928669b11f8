// What is known of a list that is read by cursors: where its pages begin, and how many rows they have. The rows of pages
// out of sight are not kept, so this is all that grows with the length of a list: a cursor for a hundred rows.

export interface KnownPage {
  /** Null: the first page. */
  readonly cursor: string | null;
  /** 0 until it was read. */
  readonly size: number;
}

export type KnownPages = readonly [KnownPage, ...KnownPage[]];

export const NOTHING_KNOWN: KnownPages = [{ cursor: null, size: 0 }];

export interface ReadPage {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

/** After this page was read, for the first time or again. */
export function withPage(pages: KnownPages, index: number, { data, next_cursor }: ReadPage): KnownPages {
  const page = pages[index];
  if (page === undefined) return pages;
  const next = pages[index + 1];
  const size = data.length;
  if (next_cursor === (next?.cursor ?? null)) {
    return size === page.size
      ? pages
      : replaced(pages, index, [{ ...page, size }, ...pages.slice(index + 1)]);
  }
  // It ends elsewhere than before, so the pages after it would leave a gap or show rows twice: they are found anew. The
  // next one is as tall as it was until then, so that nothing moves under the reader's eyes.
  const found = next_cursor === null ? [] : [{ cursor: next_cursor, size: next?.size ?? 0 }];
  return replaced(pages, index, [{ ...page, size }, ...found]);
}

function replaced(pages: KnownPages, index: number, rest: readonly KnownPage[]): KnownPages {
  return [...pages.slice(0, index), ...rest] as unknown as KnownPages;
}

export function rowCount(pages: KnownPages): number {
  return pages.reduce((sum, { size }) => sum + size, 0);
}

export interface RowPlace {
  readonly page: number;
  readonly row: number;
}

/** Past the last row it is the last page: the one to be read next. */
export function placeOf(pages: KnownPages, index: number): RowPlace {
  let start = 0;
  for (const [page, { size }] of pages.entries()) {
    if (index < start + size) return { page, row: Math.max(0, index) - start };
    start += size;
  }
  return { page: pages.length - 1, row: index - start };
}
