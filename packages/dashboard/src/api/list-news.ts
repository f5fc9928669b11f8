// How a list hears of what comes later: by the stream, by asking for its first page again, or not at all.
import { useEffect, useState } from "react";
import { type Changes, useLive } from "../live/live.ts";
import { comparePages, countTold, type News, NO_NEWS, type Told } from "./news.ts";

export interface Watch<Row> {
  readonly keyOf: (row: Row) => string;
  /** Its first page is asked for again so often, while somebody can see it. */
  readonly everyMs?: number;
  /** What the stream says, as rows of this list. */
  readonly live?: (changes: Changes) => readonly Told<Row>[];
}

/** A page, and when it was asked for. */
export interface Asked<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
  readonly askedAt: number;
}

export interface Stream<Row> {
  readonly told: ReadonlyMap<string, Told<Row> & { readonly at: number }>;
  /** When more happened than was told; 0: never. */
  readonly moreAt: number;
  readonly forget: () => void;
}

/** Beyond this, "more than that" says as much. */
export const MOST_NEWS = 999;

export function useStream<Row>(list: string, live: Watch<Row>["live"]): Stream<Row> {
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

/** A row of a page as it is now. */
export function upToDate<Row>(
  row: Row,
  { askedAt }: Asked<Row>,
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: Asked<Row> | undefined,
): Row {
  if (watch === undefined) return row;
  const key = watch.keyOf(row);
  const said = stream.told.get(key);
  const isSaidLater = said !== undefined && said.at > Math.max(askedAt, newest?.askedAt ?? 0);
  if (isSaidLater) return said.row ?? row;
  if (newest === undefined || newest.askedAt <= askedAt) return row;
  return newest.data.find((other) => watch.keyOf(other) === key) ?? row;
}

/** `top`: the pages that are held from the first one on; further down nobody can tell what is new. */
export function newsOf<Row>(
  top: readonly Asked<Row>[],
  isWhole: boolean,
  watch: Watch<Row> | undefined,
  stream: Stream<Row>,
  newest: Asked<Row> | undefined,
): News {
  const [first] = top;
  if (watch === undefined || first === undefined) return NO_NEWS;
  const { keyOf } = watch;
  const rows = top.flatMap(({ data }) => data);
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
export function useShownWhenEmpty(isEmpty: boolean, news: News, askedAt: number, showNews: () => void): void {
  const isDue = isEmpty && (news.count > 0 || news.isMore) && document.visibilityState === "visible";
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(showNews, Math.max(0, askedAt + EMPTY_AGAIN_MS - Date.now()));
    return () => clearTimeout(timer);
  });
}
