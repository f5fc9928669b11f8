// A relative time that updates, with the exact UTC time as title.
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
  // subscribes to the text, so that it renders only when the text changes
  const shown = useSyncExternalStore(onTick, () => relativeTime(date, tickedAt(), language));
  return (
    <time dateTime={at} title={exactUtc(date)} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
