// The state and progress of a replay.
import type { Replay } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Badge } from "../ui/badge.tsx";
import { Countdown } from "../ui/time.tsx";

const t = defineTexts({
  scheduled: ["scheduled", "geplant"],
  running: ["running", "läuft"],
  finished: ["finished", "abgeschlossen"],
  cancelled: ["cancelled", "abgebrochen"],
  startsIn: ["starts in", "startet in"],
  of: ["{done} of {total}", "{done} von {total}"],
});

const LOOKS = {
  scheduled: { tone: "plain", icon: "clock" },
  running: { tone: "calm", icon: "replay" },
  finished: { tone: "ok", icon: "check" },
  cancelled: { tone: "plain", icon: "dead" },
} as const;

export function ReplayBadge({ state }: { readonly state: Replay["state"] }) {
  return <Badge {...LOOKS[state]}>{t[state]}</Badge>;
}

/** The progress, or the time until the start. */
export function ReplayProgress({ replay }: { readonly replay: Replay }) {
  if (replay.state === "scheduled")
    return (
      <span className="text-muted">
        {t.startsIn} <Countdown until={replay.start_at ?? replay.created_at} />
      </span>
    );
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
