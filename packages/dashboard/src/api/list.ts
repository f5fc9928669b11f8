// A list with cursors as one growing array.
import { type QueryKey, useInfiniteQuery } from "@tanstack/react-query";

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
}

export function useList<Row>(
  queryKey: QueryKey,
  read: (
    page: { readonly cursor?: string; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<Page<Row>>,
  { refreshMs }: { readonly refreshMs?: number } = {},
): List<Row> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: 100, ...(pageParam !== null && { cursor: pageParam }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // only while the reader looks at the first page: further down, rows would move under their eyes
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (refreshMs ?? false)),
  });
  const { data, error, isPending, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } = query;
  return {
    rows: data?.pages.flatMap((page) => page.data) ?? [],
    isLoading: isPending,
    isLoadingMore: isFetchingNextPage,
    error,
    loadMore: () => {
      if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
    },
    reload: () => void refetch(),
  };
}
