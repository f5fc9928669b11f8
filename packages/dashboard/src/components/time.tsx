// A time relative to now, with the exact one in UTC on hover and for whoever cannot hover. It moves on by itself.
import { useSyncExternalStore } from "react";
import { useLanguage } from "../app/texts.ts";
import { exactUtc, relativeTime } from "../format/time.ts";

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all that is on the screen; none while nothing is. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function Ago({ at }: { readonly at: string }) {
  const language = useLanguage();
  const date = new Date(at);
  // by what it says: a time that says the same for a minute is not drawn every second
  const shown = useSyncExternalStore(subscribe, () => relativeTime(date, now, language));
  return (
    <time dateTime={at} title={exactUtc(date)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
