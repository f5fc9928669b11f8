// A list with cursors, of any length: the pages in sight are asked for, and those far from it are forgotten.
import { type QueryKey, skipToken, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { type KnownPages, NOTHING_KNOWN, placeOf, rowCount, withPage } from "./known-pages.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** An array is one. */
export interface Rows<Row> {
  readonly length: number;
  /** Undefined: it is there, and not held now. */
  at(index: number): Row | undefined;
}

/** Where a reader is in a list; still there when they come back to it. */
export interface ReadingPlace {
  readonly offsetPx: number;
  /** The row that the keys stand on. */
  readonly focused: number | null;
}

export interface List<Row> {
  readonly rows: Rows<Row>;
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly error: unknown;
  readonly reload: () => void;
  readonly place: ReadingPlace;
  readonly keepPlace: (change: Partial<ReadingPlace>) => void;
  /** Tells which rows are in sight. */
  readonly look: (first: number, last: number) => void;
}

interface Reading extends ReadingPlace {
  readonly pages: KnownPages;
  readonly sight: { readonly from: number; readonly to: number };
}

const AT_THE_TOP: Reading = {
  pages: NOTHING_KNOWN,
  sight: { from: 0, to: 0 },
  offsetPx: 0,
  focused: null,
};
const ROWS_A_PAGE = 100;
/** So many pages before and after those in sight are held: scrolling back and forth asks for nothing. */
const PAGES_AROUND = 5;
/** Rows out of sight that are asked for already. */
const AHEAD = 40;
const REMEMBERED_MS = 30 * 60_000;

export function useList<Row>(
  queryKey: QueryKey,
  read: (
    page: { readonly cursor?: string; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<Page<Row>>,
  { refreshMs = false }: { readonly refreshMs?: number | false } = {},
): List<Row> {
  const queries = useQueryClient();
  // of this visit to the screen: going back comes to it again, a link to the screen begins at the top
  const visit = useLocation({ select: ({ state }) => state.__TSR_key });
  const readingKey = [...queryKey, "reading", visit];
  const { data: reading = AT_THE_TOP } = useQuery<Reading>({
    queryKey: readingKey,
    queryFn: skipToken,
    initialData: AT_THE_TOP,
    gcTime: REMEMBERED_MS,
  });
  const update = (change: (now: Reading) => Reading) =>
    queries.setQueryData<Reading>(readingKey, (now = AT_THE_TOP) => change(now));

  const { sight } = reading;
  const isAtTheTop = sight.to === 0 && (reading.pages[1]?.size ?? 0) === 0;
  const wanted = reading.pages.slice(sight.from, sight.to + 1);
  const results = useQueries({
    queries: wanted.map(({ cursor }) => ({
      queryKey: [...queryKey, "page", cursor],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        read({ limit: ROWS_A_PAGE, ...(cursor !== null && { cursor }) }, signal),
      // further down, a page that is read again would move rows under the reader's eyes: only when something was done
      ...(isAtTheTop ? { refetchInterval: refreshMs } : { staleTime: Number.POSITIVE_INFINITY }),
    })),
  });
  const pages = results.reduce<KnownPages>(
    (known, { data }, index) => (data ? withPage(known, sight.from + index, data) : known),
    reading.pages,
  );
  useEffect(() => {
    if (pages !== reading.pages) update((now) => ({ ...now, pages }));
  });
  const held = new Set(
    pages
      .slice(Math.max(0, sight.from - PAGES_AROUND), sight.to + PAGES_AROUND + 1)
      .map(({ cursor }) => cursor),
  );
  useEffect(() => {
    queries.removeQueries({
      queryKey: [...queryKey, "page"],
      predicate: (query) => !held.has(query.queryKey.at(-1) as string | null),
    });
  });

  return {
    rows: {
      length: rowCount(pages),
      at: (index) => {
        const { page, row } = placeOf(pages, index);
        const data =
          results[page - sight.from]?.data ??
          queries.getQueryData<Page<Row>>([...queryKey, "page", pages[page]?.cursor ?? null]);
        return data?.data[row];
      },
    },
    isLoading: rowCount(pages) === 0 && results.some(({ isPending }) => isPending),
    isLoadingMore: results.some(({ isPending, error }) => isPending && error === null),
    error: results.find(({ error }) => error !== null)?.error ?? null,
    reload: () => void queries.invalidateQueries({ queryKey }),
    place: reading,
    keepPlace: (change) => update((now) => ({ ...now, ...change })),
    look: (first, last) => {
      const from = placeOf(pages, first - AHEAD).page;
      const to = placeOf(pages, last + AHEAD).page;
      if (from !== sight.from || to !== sight.to) update((now) => ({ ...now, sight: { from, to } }));
    },
  };
}
