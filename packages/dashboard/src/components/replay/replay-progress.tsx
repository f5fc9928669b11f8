// The state and progress of a replay.
import type { Replay } from "@posthorn/client";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Badge } from "../ui/badge.tsx";

const texts = defineTexts({
  en: {
    running: "running",
    finished: "finished",
    cancelled: "cancelled",
    of: (done: string, total: string) => `${done} of ${total}`,
    many: "unknown",
  },
  de: {
    running: "läuft",
    finished: "abgeschlossen",
    cancelled: "abgebrochen",
    of: (done: string, total: string) => `${done} von ${total}`,
    many: "unbekannt",
  },
});

const LOOKS = {
  running: { tone: "calm", icon: "replay" },
  finished: { tone: "ok", icon: "check" },
  cancelled: { tone: "plain", icon: "dead" },
} as const;

export function ReplayBadge({ state }: { readonly state: Replay["state"] }) {
  const t = useTexts(texts);
  return <Badge {...LOOKS[state]}>{t[state]}</Badge>;
}

export function ReplayProgress({ replay }: { readonly replay: Replay }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const skipped = Object.values(replay.skipped).reduce((sum, count) => sum + count, 0);
  const passed = replay.done + skipped;
  const label = t.of(
    whole(replay.done, language),
    // deliveries that fail after the start are included
    replay.total === null ? t.many : whole(Math.max(replay.total, replay.done), language),
  );
  return (
    <span className="flex items-center gap-2">
      <progress
        aria-label={label}
        value={replay.state === "finished" ? 1 : passed}
        max={replay.state === "finished" ? 1 : Math.max(replay.total ?? passed * 2, 1)}
        className="h-2 w-32 accent-accent-ink"
      />
      <span className="text-muted tabular-nums">{label}</span>
    </span>
  );
}
