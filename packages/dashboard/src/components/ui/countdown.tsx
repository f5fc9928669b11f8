// A countdown in seconds, with the exact time as title.
import { duration, exactUtc } from "../../format/time.ts";
import { useNow } from "./time.tsx";

export function Countdown({ until }: { readonly until: string }) {
  const at = new Date(until);
  const leftMs = Math.max(0, at.getTime() - useNow());
  return (
    <time dateTime={until} title={exactUtc(at)} className="whitespace-nowrap tabular-nums">
      {leftMs < 10_000 ? `${Math.ceil(leftMs / 1_000)}s` : duration(leftMs)}
    </time>
  );
}
