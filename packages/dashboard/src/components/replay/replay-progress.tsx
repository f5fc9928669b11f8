// The state and progress of a replay.
import type { Replay } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Badge } from "../ui/badge.tsx";

const t = defineTexts({
  running: ["running", "läuft"],
  finished: ["finished", "abgeschlossen"],
  cancelled: ["cancelled", "abgebrochen"],
  of: ["{done} of {total}", "{done} von {total}"],
});

const LOOKS = {
  running: { tone: "calm", icon: "replay" },
  finished: { tone: "ok", icon: "check" },
  cancelled: { tone: "plain", icon: "dead" },
} as const;

export function ReplayBadge({ state }: { readonly state: Replay["state"] }) {
  return <Badge {...LOOKS[state]}>{t[state]}</Badge>;
}

export function ReplayProgress({ replay }: { readonly replay: Replay }) {
  const skipped = Object.values(replay.skipped).reduce((sum, count) => sum + count, 0);
  const passed = replay.done + skipped;
  const label = t.of({
    done: whole(replay.done),
    total: replay.total === null ? t.unknown : whole(Math.max(replay.total, replay.done)), // deliveries that fail after the start are included
  });
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
