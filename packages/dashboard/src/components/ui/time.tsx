// Relative times and countdowns that update, with the exact UTC time as title.
import { useSyncExternalStore } from "react";
import { duration, exactUtc, relativeTime } from "../../format/time.ts";

export function useNow(): number {
  return useSyncExternalStore(onTick, tickedAt);
}

export function Ago({ at }: { readonly at: string }) {
  const date = new Date(at);
  // subscribes to the text, so that it renders only when the text changes
  const shown = useSyncExternalStore(onTick, () => relativeTime(date, tickedAt()));
  return (
    <time dateTime={at} title={exactUtc(date)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}

/** A time in the future; shown as now when it has passed, until the page is updated. */
export function Until({ at }: { readonly at: string }) {
  const date = new Date(at);
  const shown = useSyncExternalStore(onTick, () =>
    relativeTime(new Date(Math.max(date.getTime(), tickedAt())), tickedAt()),
  );
  return (
    <time dateTime={at} title={exactUtc(date)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}

export function Countdown({ until }: { readonly until: string }) {
  const at = new Date(until);
  const leftMs = Math.max(0, at.getTime() - useNow());
  return (
    <time dateTime={until} title={exactUtc(at)} className="whitespace-nowrap tabular-nums">
      {leftMs < 10_000 ? `${Math.ceil(leftMs / 1_000)}s` : duration(leftMs)}
    </time>
  );
}

/** One timer for all times on the page; stopped while none is shown. */
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

export function onTick(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    // the time was not updated while the timer was stopped
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function tickedAt(): number {
  return now;
}
