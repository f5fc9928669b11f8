// A time relative to now, with the exact one in UTC on hover and for whoever cannot hover. It moves on by itself.
import { useSyncExternalStore } from "react";
import { useLanguage } from "../../app/texts.ts";
import { exactUtc, relativeTime } from "../../format/time.ts";
import { onTick, tickedAt } from "./clock.ts";

export function useNow(): number {
  return useSyncExternalStore(onTick, tickedAt);
}

export function Ago({ at }: { readonly at: string }) {
  const language = useLanguage();
  const date = new Date(at);
  // by what it says: a time that says the same for a minute is not drawn every second
  const shown = useSyncExternalStore(onTick, () => relativeTime(date, tickedAt(), language));
  return (
    <time dateTime={at} title={exactUtc(date)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
