// Updates of a loaded list: from the live stream, by polling the first page, or none.
import { useEffect, useState } from "react";
import { type Changes, useLive } from "../live/live.ts";
import type { Page } from "./known-pages.ts";
import { comparePages, countNewRows, type NewRows, NO_NEW_ROWS, type RowChange } from "./new-rows.ts";

export interface Watch<Row> {
  readonly keyOf: (row: Row) => string;
  /** The interval at which the first page is polled while the tab is visible. */
  readonly everyMs?: number;
  /** Converts stream messages into changes of this list's rows. */
  readonly live?: (changes: Changes) => readonly RowChange<Row>[];
}

/** A page with the time of its request. */
export interface LoadedPage<Row> extends Page<Row> {
  readonly requestedAt: number;
}

interface Stream<Row> {
  readonly rowChanges: ReadonlyMap<string, RowChange<Row> & { readonly at: number }>;
  /** The time of the last incomplete stream message; 0 if there was none. */
  readonly partialAt: number;
  readonly reset: () => void;
}

/** Higher counts are shown as "more than …". */
export const MAX_NEW_ROWS = 999;

export function useStream<Row>(list: string, live: Watch<Row>["live"]): Stream<Row> {
  const nothing = { list, rowChanges: new Map() as Stream<Row>["rowChanges"], partialAt: 0 };
  const [received, setReceived] = useState(nothing);
  const current = received.list === list ? received : nothing;
  const onChanges = (changes: Changes) => {
    const at = Date.now();
    const rowChanges = live?.(changes) ?? [];
    if (rowChanges.length === 0 && !changes.is_partial) return;
    setReceived((before) => {
      const known = before.list === list ? before : nothing;
      const next = new Map(known.rowChanges);
      for (const one of rowChanges) {
        // newest last, so that the oldest are dropped
        next.delete(one.key);
        next.set(one.key, { ...one, at });
      }
      const latest = [...next].slice(-MAX_NEW_ROWS - 1);
      return { list, rowChanges: new Map(latest), partialAt: changes.is_partial ? at : known.partialAt };
    });
  };
  useLive(live === undefined ? null : onChanges);
  return { ...current, reset: () => setReceived(nothing) };
}

/** Returns the newest known version of a row. */
export function withLatest<Row>(
  row: Row,
  { requestedAt }: LoadedPage<Row>,
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: LoadedPage<Row> | undefined,
): Row {
  if (watch === undefined) return row;
  const key = watch.keyOf(row);
  const change = stream.rowChanges.get(key);
  const isNewer = change !== undefined && change.at > Math.max(requestedAt, newest?.requestedAt ?? 0);
  if (isNewer) return change.row ?? row;
  if (newest === undefined || newest.requestedAt <= requestedAt) return row;
  return newest.data.find((other) => watch.keyOf(other) === key) ?? row;
}

/** Counts new rows. `top` are the consecutive loaded pages from the first; below them new rows cannot be detected. */
export function newRowsOf<Row>(
  top: readonly LoadedPage<Row>[],
  isWhole: boolean,
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: LoadedPage<Row> | undefined,
): NewRows {
  const [first] = top;
  if (watch === undefined || first === undefined) return NO_NEW_ROWS;
  const { keyOf } = watch;
  const rows = top.flatMap(({ data }) => data);
  const later = [...stream.rowChanges.values()].filter(({ at }) => at > first.requestedAt);
  const count = countNewRows(rows, isWhole, keyOf, later);
  const isPolledLater = newest !== undefined && newest.requestedAt > first.requestedAt;
  const polled = isPolledLater ? comparePages(rows, isWhole, keyOf, newest) : NO_NEW_ROWS;
  return {
    count: Math.max(count, polled.count),
    isMore: stream.partialAt > first.requestedAt || polled.isMore,
  };
}

const EMPTY_RELOAD_MS = 2_000;

/** Reloads an empty list when rows arrive: there is nothing that could move. */
export function useShowWhenEmpty(
  isEmpty: boolean,
  newRows: NewRows,
  requestedAt: number,
  showNewRows: () => void,
): void {
  const isDue = isEmpty && (newRows.count > 0 || newRows.isMore) && document.visibilityState === "visible";
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(showNewRows, Math.max(0, requestedAt + EMPTY_RELOAD_MS - Date.now()));
    return () => clearTimeout(timer);
  });
}
