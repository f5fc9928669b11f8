// A list with cursors as one growing array. What comes later is told of and never moves it: see news.ts.
import { hashKey, type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Changes, useLive } from "../live/live.ts";
import { comparePages, countTold, type News, NO_NEWS, type Told } from "./news.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

export interface List<Row> {
  readonly rows: readonly Row[];
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly error: unknown;
  readonly loadMore: () => void;
  readonly reload: () => void;
  readonly news: News;
  /** The first page as it is now. */
  readonly showNews: () => void;
}

/** How a list hears of what comes later. */
export interface Watch<Row> {
  readonly keyOf: (row: Row) => string;
  /** Its first page is asked for again so often, while somebody can see it. */
  readonly everyMs?: number;
  /** What the stream says, as rows of this list. */
  readonly live?: (changes: Changes) => readonly Told<Row>[];
}

type Asked<Row> = Page<Row> & { readonly askedAt: number };

const ROWS_A_PAGE = 100;

export function useList<Row>(
  queryKey: QueryKey,
  read: (
    page: { readonly cursor?: string; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<Page<Row>>,
  { watch }: { readonly watch?: Watch<Row> } = {},
): List<Row> {
  const queries = useQueryClient();
  const ask = async (cursor: string | null, signal: AbortSignal): Promise<Asked<Row>> => {
    const askedAt = Date.now();
    return { ...(await read({ limit: ROWS_A_PAGE, ...(cursor !== null && { cursor }) }, signal)), askedAt };
  };
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => ask(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // whoever comes back to the page finds it as it was, with the news beside it
    ...(watch !== undefined && { refetchOnWindowFocus: false, refetchOnReconnect: false }),
  });
  const { data, error, isPending, isFetching, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } =
    query;
  const pages = data?.pages ?? [];
  const [first] = pages;
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
  const rows = upToDate(pages, watch, stream, newest);
  const news = newsOf(rows, first, !hasNextPage, watch, stream, newest);
  const showNews = () => {
    stream.forget();
    queries.setQueryData<typeof data>(queryKey, (shown) =>
      shown === undefined
        ? shown
        : { pages: shown.pages.slice(0, 1), pageParams: shown.pageParams.slice(0, 1) },
    );
    void refetch();
  };
  useShownWhenEmpty(rows.length === 0 && !isFetching, news, first?.askedAt ?? 0, showNews);
  return {
    rows,
    isLoading: isPending,
    isLoadingMore: isFetchingNextPage,
    error,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    reload: () => void refetch(),
    news,
    showNews,
  };
}

interface Stream<Row> {
  readonly told: ReadonlyMap<string, Told<Row> & { readonly at: number }>;
  /** When more happened than was told; 0: never. */
  readonly moreAt: number;
  readonly forget: () => void;
}

/** Beyond this, "more than that" says as much. */
export const MOST_NEWS = 999;

function useStream<Row>(list: string, live: Watch<Row>["live"]): Stream<Row> {
  const nothing = { list, told: new Map() as Stream<Row>["told"], moreAt: 0 };
  const [heard, setHeard] = useState(nothing);
  const current = heard.list === list ? heard : nothing;
  const hear = (changes: Changes) => {
    const at = Date.now();
    const told = live?.(changes) ?? [];
    if (told.length === 0 && !changes.is_partial) return;
    setHeard((before) => {
      const known = before.list === list ? before : nothing;
      const next = new Map(known.told);
      for (const one of told) {
        // the latest last, so that the oldest are dropped
        next.delete(one.key);
        next.set(one.key, { ...one, at });
      }
      const latest = [...next].slice(-MOST_NEWS - 1);
      return { list, told: new Map(latest), moreAt: changes.is_partial ? at : known.moreAt };
    });
  };
  useLive(live === undefined ? null : hear);
  return { ...current, forget: () => setHeard(nothing) };
}

/** The rows that were loaded, each as it is now. */
function upToDate<Row>(
  pages: readonly Asked<Row>[],
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: Asked<Row> | undefined,
): readonly Row[] {
  if (watch === undefined) return pages.flatMap(({ data }) => data);
  const asked = new Map(newest?.data.map((row) => [watch.keyOf(row), row]));
  return pages.flatMap(({ data, askedAt }) =>
    data.map((row) => {
      const key = watch.keyOf(row);
      const said = stream.told.get(key);
      const isSaidLater = said !== undefined && said.at > Math.max(askedAt, newest?.askedAt ?? 0);
      if (isSaidLater) return said.row ?? row;
      return newest !== undefined && newest.askedAt > askedAt ? (asked.get(key) ?? row) : row;
    }),
  );
}

function newsOf<Row>(
  rows: readonly Row[],
  first: Asked<Row> | undefined,
  isWhole: boolean,
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: Asked<Row> | undefined,
): News {
  if (watch === undefined || first === undefined) return NO_NEWS;
  const { keyOf } = watch;
  const later = [...stream.told.values()].filter(({ at }) => at > first.askedAt);
  const count = countTold(rows, isWhole, keyOf, later);
  const isPolledLater = newest !== undefined && newest.askedAt > first.askedAt;
  const polled = isPolledLater ? comparePages(rows, isWhole, keyOf, newest) : NO_NEWS;
  return {
    count: Math.max(count, polled.count),
    isMore: stream.moreAt > first.askedAt || polled.isMore,
  };
}

const EMPTY_AGAIN_MS = 2_000;

/** Where nothing is shown nothing can move: the first rows appear by themselves. */
function useShownWhenEmpty(isEmpty: boolean, news: News, askedAt: number, showNews: () => void): void {
  const isDue = isEmpty && (news.count > 0 || news.isMore) && document.visibilityState === "visible";
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(showNews, Math.max(0, askedAt + EMPTY_AGAIN_MS - Date.now()));
    return () => clearTimeout(timer);
  });
}
