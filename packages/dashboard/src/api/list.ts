// A list with cursors, of any length: the pages in sight are asked for, and those far from it are forgotten. What comes
// later is told of and never moves it: see news.ts.
import {
  hashKey,
  type QueryKey,
  skipToken,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { type KnownPages, NOTHING_KNOWN, placeOf, rowCount, withPage } from "./known-pages.ts";
import { type Asked, newsOf, upToDate, useShownWhenEmpty, useStream, type Watch } from "./list-news.ts";
import type { News } from "./news.ts";

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
  readonly news: News;
  /** The first page as it is now. */
  readonly showNews: () => void;
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
  { watch }: { readonly watch?: Watch<Row> } = {},
): List<Row> {
  const queries = useQueryClient();
  const { reading, update } = useReading(queryKey);
  const ask = async (cursor: string | null, signal: AbortSignal): Promise<Asked<Row>> => {
    const askedAt = Date.now();
    return { ...(await read({ limit: ROWS_A_PAGE, ...(cursor !== null && { cursor }) }, signal)), askedAt };
  };

  const { sight } = reading;
  const results = useQueries({
    queries: reading.pages.slice(sight.from, sight.to + 1).map(({ cursor }) => ({
      queryKey: pageKey(queryKey, cursor),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => ask(cursor, signal),
      gcTime: REMEMBERED_MS,
      // further down, a page that is read again would move rows under the reader's eyes: only when something was done
      ...(sight.to > 0 && { staleTime: Number.POSITIVE_INFINITY }),
      // whoever comes back to the page finds it as it was, with the news beside it
      ...(watch !== undefined && { refetchOnWindowFocus: false, refetchOnReconnect: false }),
    })),
  });
  const pages = results.reduce<KnownPages>(
    (known, { data }, index) => (data ? withPage(known, sight.from + index, data) : known),
    reading.pages,
  );
  useEffect(() => {
    if (pages !== reading.pages) update((now) => ({ ...now, pages }));
  });
  useForgetting(queryKey, pages, sight);

  const pageAt = (index: number): Asked<Row> | undefined =>
    results[index - sight.from]?.data ??
    queries.getQueryData<Asked<Row>>(pageKey(queryKey, pages[index]?.cursor ?? null));
  const first = pageAt(0);
  const stream = useStream(hashKey(queryKey), watch?.live);
  const newest = useQuery({
    queryKey: [...queryKey, "newest"],
    queryFn: ({ signal }) => ask(null, signal),
    enabled: watch?.everyMs !== undefined && first !== undefined,
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: first.askedAt }),
    staleTime: watch?.everyMs ?? 0,
    refetchInterval: watch?.everyMs ?? false,
    refetchOnWindowFocus: false,
  }).data;
  const top = heldFromTheFirst(pages, pageAt);
  const isWhole = top.length === pages.length && top.at(-1)?.next_cursor === null;
  const news = newsOf(top, isWhole, watch, stream, newest);
  const showNews = () => {
    stream.forget();
    update(() => AT_THE_TOP);
    void queries.invalidateQueries({ queryKey: pageKey(queryKey, null), exact: true });
  };
  const length = rowCount(pages);
  const isFetching = results.some((result) => result.isFetching);
  useShownWhenEmpty(length === 0 && !isFetching, news, first?.askedAt ?? 0, showNews);

  const isPending = results.some((result) => result.isPending && result.error === null);
  return {
    rows: {
      length,
      at: (index) => {
        const { page, row } = placeOf(pages, index);
        const held = pageAt(page);
        const found = held?.data[row];
        return held && found && upToDate(found, held, watch, stream, newest);
      },
    },
    isLoading: length === 0 && isPending,
    isLoadingMore: length > 0 && isPending,
    error: results.find(({ error }) => error !== null)?.error ?? null,
    reload: () => void queries.invalidateQueries({ queryKey }),
    place: reading,
    keepPlace: (change) => update((now) => ({ ...now, ...change })),
    look: (firstRow, lastRow) => {
      const from = placeOf(pages, firstRow - AHEAD).page;
      const to = placeOf(pages, lastRow + AHEAD).page;
      if (from !== sight.from || to !== sight.to) update((now) => ({ ...now, sight: { from, to } }));
    },
    news,
    showNews,
  };
}

function pageKey(queryKey: QueryKey, cursor: string | null): QueryKey {
  return [...queryKey, "page", cursor];
}

/** Of this visit to the screen: going back comes to it again, a link to the screen begins at the top. */
function useReading(queryKey: QueryKey) {
  const queries = useQueryClient();
  const visit = useLocation({ select: ({ state }) => state.__TSR_key });
  const key = [...queryKey, "reading", visit];
  const { data: reading = AT_THE_TOP } = useQuery<Reading>({
    queryKey: key,
    queryFn: skipToken,
    initialData: AT_THE_TOP,
    gcTime: REMEMBERED_MS,
  });
  const update = (change: (now: Reading) => Reading) =>
    queries.setQueryData<Reading>(key, (now = AT_THE_TOP) => change(now));
  return { reading, update };
}

/** The first page stays: what is new is known by it. */
function useForgetting(queryKey: QueryKey, pages: KnownPages, sight: Reading["sight"]): void {
  const queries = useQueryClient();
  useEffect(() => {
    const around = pages.slice(Math.max(0, sight.from - PAGES_AROUND), sight.to + PAGES_AROUND + 1);
    const held = new Set([null, ...around.map(({ cursor }) => cursor)]);
    // by the whole key: filters that are fewer would match those that are more
    const ofThisList = hashKey([...queryKey, "page"]);
    queries.removeQueries({
      predicate: ({ queryKey: other }) =>
        !held.has(other.at(-1) as string | null) && hashKey(other.slice(0, -1)) === ofThisList,
    });
  });
}

function heldFromTheFirst<Row>(
  pages: KnownPages,
  pageAt: (index: number) => Asked<Row> | undefined,
): readonly Asked<Row>[] {
  const held: Asked<Row>[] = [];
  for (let index = 0; index < pages.length; index += 1) {
    const page = pageAt(index);
    if (page === undefined) break;
    held.push(page);
  }
  return held;
}
