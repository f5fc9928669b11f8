// A cursor-paginated list of any length: loads the visible pages and evicts distant ones. New rows are announced and
// never move the list; see new-rows.ts.
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
import { type KnownPages, NO_PAGES, type Page, positionOf, rowCount, withPage } from "./known-pages.ts";
import {
  type LoadedPage,
  newRowsOf,
  useShowWhenEmpty,
  useStream,
  type Watch,
  withLatest,
} from "./list-updates.ts";
import type { NewRows } from "./new-rows.ts";
import { apiKey, call, type InputOf, type Operation, type ResultOf } from "./use-api.ts";

/** The rows of a list; arrays qualify. */
export interface Rows<Row> {
  readonly length: number;
  /** Undefined if the row exists and is not loaded. */
  at(index: number): Row | undefined;
}

/** The scroll position and focused row, restored when the user returns to the list. */
export interface ReadingPosition {
  readonly offsetPx: number;
  readonly focused: number | null;
}

export interface List<Row> {
  readonly rows: Rows<Row>;
  readonly keyOf: (row: Row) => string;
  readonly isLoading: boolean;
  readonly isLoadingMore: boolean;
  readonly error: unknown;
  readonly reload: () => void;
  readonly position: ReadingPosition;
  readonly savePosition: (change: Partial<ReadingPosition>) => void;
  readonly onVisibleRows: (first: number, last: number) => void;
  readonly newRows: NewRows;
  /** Reloads the first page. */
  readonly showNewRows: () => void;
}

interface Reading extends ReadingPosition {
  readonly pages: KnownPages;
  readonly sight: { readonly from: number; readonly to: number };
}

const AT_TOP: Reading = {
  pages: NO_PAGES,
  sight: { from: 0, to: 0 },
  offsetPx: 0,
  focused: null,
};
const ROWS_A_PAGE = 100;
/** Pages kept loaded before and after the visible ones. */
const PAGES_HELD_AROUND = 5;
/** Rows that are loaded before they become visible. */
const AHEAD = 40;
const KEPT_MS = 30 * 60_000;

type PagedOperation = { [Op in Operation]: ResultOf<Op> extends Page<unknown> ? Op : never }[Operation];
type RowOf<Op extends PagedOperation> = ResultOf<Op> extends Page<infer Row> ? Row : never;

export function useList<Op extends PagedOperation>(
  operation: Op,
  input: InputOf<Op>,
  {
    keyOf = idOf,
    watch: asked,
  }: {
    readonly keyOf?: (row: RowOf<Op>) => string;
    readonly watch?: Omit<Watch<RowOf<Op>>, "keyOf">;
  } = {},
): List<RowOf<Op>> {
  type Row = RowOf<Op>;
  const queryKey = apiKey(operation, input);
  const watch = asked && { ...asked, keyOf };
  const queries = useQueryClient();
  const { reading, update } = useReading(queryKey);
  const fetchPage = async (cursor: string | null, signal: AbortSignal): Promise<LoadedPage<Row>> => {
    const requestedAt = Date.now();
    const { query } = input as { readonly query?: object };
    const page = { ...query, limit: ROWS_A_PAGE, ...(cursor !== null && { cursor }) };
    const loaded = await call(operation, { ...input, query: page } as InputOf<Op>, signal);
    return { ...(loaded as Page<Row>), requestedAt };
  };

  const { sight } = reading;
  const results = useQueries({
    queries: reading.pages.slice(sight.from, sight.to + 1).map(({ cursor }) => ({
      queryKey: pageKey(queryKey, cursor),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetchPage(cursor, signal),
      gcTime: KEPT_MS,
      // below the first page, refetching could move rows: only after an explicit invalidation
      ...(sight.to > 0 && { staleTime: Number.POSITIVE_INFINITY }),
      // watched lists announce new rows instead of refetching on focus
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
  useEvictDistantPages(queryKey, pages, sight);

  const pageAt = (index: number): LoadedPage<Row> | undefined =>
    results[index - sight.from]?.data ??
    queries.getQueryData<LoadedPage<Row>>(pageKey(queryKey, pages[index]?.cursor ?? null));
  const first = pageAt(0);
  const stream = useStream(hashKey(queryKey), watch?.live);
  const newest = useQuery({
    queryKey: [...queryKey, "newest"],
    queryFn: ({ signal }) => fetchPage(null, signal),
    enabled: watch?.everyMs !== undefined && first !== undefined,
    ...(first !== undefined && { initialData: first, initialDataUpdatedAt: first.requestedAt }),
    staleTime: watch?.everyMs ?? 0,
    refetchInterval: watch?.everyMs ?? false,
    refetchOnWindowFocus: false,
  }).data;
  const top = loadedFromTop(pages, pageAt);
  const isWhole = top.length === pages.length && top.at(-1)?.next_cursor === null;
  const newRows = newRowsOf(top, isWhole, watch, stream, newest);
  const showNewRows = () => {
    stream.reset();
    update(() => AT_TOP);
    void queries.invalidateQueries({ queryKey: pageKey(queryKey, null), exact: true });
  };
  const length = rowCount(pages);
  const isFetching = results.some((result) => result.isFetching);
  useShowWhenEmpty(length === 0 && !isFetching, newRows, first?.requestedAt ?? 0, showNewRows);

  const isPending = results.some((result) => result.isPending && result.error === null);
  return {
    rows: {
      length,
      at: (index) => {
        const { page, row } = positionOf(pages, index);
        const held = pageAt(page);
        const found = held?.data[row];
        return held && found && withLatest(found, held, watch, stream, newest);
      },
    },
    keyOf,
    isLoading: length === 0 && isPending,
    isLoadingMore: length > 0 && isPending,
    error: results.find(({ error }) => error !== null)?.error ?? null,
    reload: () => void queries.invalidateQueries({ queryKey }),
    position: reading,
    savePosition: (change) => update((now) => ({ ...now, ...change })),
    onVisibleRows: (firstRow, lastRow) => {
      const from = positionOf(pages, firstRow - AHEAD).page;
      const to = positionOf(pages, lastRow + AHEAD).page;
      if (from !== sight.from || to !== sight.to) update((now) => ({ ...now, sight: { from, to } }));
    },
    newRows,
    showNewRows,
  };
}

function idOf(row: unknown): string {
  return (row as { readonly id: string }).id;
}

function pageKey(queryKey: QueryKey, cursor: string | null): QueryKey {
  return [...queryKey, "page", cursor];
}

/** The reading position of this history entry: "back" restores it, a new link starts at the top. */
function useReading(queryKey: QueryKey) {
  const queries = useQueryClient();
  const visit = useLocation({ select: ({ state }) => state.__TSR_key });
  const key = [...queryKey, "reading", visit];
  const { data: reading = AT_TOP } = useQuery<Reading>({
    queryKey: key,
    queryFn: skipToken,
    initialData: AT_TOP,
    gcTime: KEPT_MS,
  });
  const update = (change: (now: Reading) => Reading) =>
    queries.setQueryData<Reading>(key, (now = AT_TOP) => change(now));
  return { reading, update };
}

/** Evicts pages far from the visible ones. The first page stays, to detect new rows. */
function useEvictDistantPages(queryKey: QueryKey, pages: KnownPages, sight: Reading["sight"]): void {
  const queries = useQueryClient();
  useEffect(() => {
    const around = pages.slice(Math.max(0, sight.from - PAGES_HELD_AROUND), sight.to + PAGES_HELD_AROUND + 1);
    const held = new Set([null, ...around.map(({ cursor }) => cursor)]);
    // compares the full key: a prefix match would include lists with more filters
    const ofThisList = hashKey([...queryKey, "page"]);
    queries.removeQueries({
      predicate: ({ queryKey: other }) =>
        !held.has(other.at(-1) as string | null) && hashKey(other.slice(0, -1)) === ofThisList,
    });
  });
}

function loadedFromTop<Row>(
  pages: KnownPages,
  pageAt: (index: number) => LoadedPage<Row> | undefined,
): readonly LoadedPage<Row>[] {
  const held: LoadedPage<Row>[] = [];
  for (let index = 0; index < pages.length; index += 1) {
    const page = pageAt(index);
    if (page === undefined) break;
    held.push(page);
  }
  return held;
}
