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
  of: ["{done} of {total} queued", "{done} von {total} eingereiht"],
  nothing: ["no deliveries", "keine Zustellungen"],
  outcomes: {
    delivered: ["{count} delivered", "{count} zugestellt"],
    failed: ["{count} will be retried", "{count} werden erneut versucht"],
    dead: ["{count} dead", "{count} endgültig fehlgeschlagen"],
    waiting: ["{count} waiting", "{count} wartend"],
    replayed_again: ["{count} replayed again later", "{count} später erneut gesendet"],
    in_batches: ["{count} in batches", "{count} in Batches"],
  },
});

const LOOKS = {
  scheduled: { tone: "plain", icon: "clock" },
  running: { tone: "calm", icon: "replay" },
  finished: { tone: "plain", icon: "check" },
  cancelled: { tone: "plain", icon: "dead" },
} as const;

export function ReplayBadge({ state }: { readonly state: Replay["state"] }) {
  return <Badge {...LOOKS[state]}>{t[state]}</Badge>;
}

/** The time until the start, then the progress, and afterwards the outcomes. */
export function ReplayProgress({ replay }: { readonly replay: Replay }) {
  if (replay.state === "scheduled")
    return (
      <span className="text-muted">
        {t.startsIn} <Countdown until={replay.start_at ?? replay.created_at} />
      </span>
    );
  return replay.state === "running" ? <Queueing replay={replay} /> : <Outcomes replay={replay} />;
}

/** How many deliveries were queued. */
function Queueing({ replay: { done, skipped, total } }: { readonly replay: Replay }) {
  const passed = done + Object.values(skipped).reduce((sum, count) => sum + count, 0);
  const label = t.of({
    done: whole(done),
    total: total === null ? t.unknown : whole(Math.max(total, done)), // deliveries that fail after the start are included
  });
  return (
    <span className="flex items-center gap-2">
      <progress
        aria-label={label}
        value={passed}
        max={Math.max(total ?? passed * 2, 1)}
        className="h-2 w-32 accent-accent-ink"
      />
      <span className="text-muted tabular-nums">{label}</span>
    </span>
  );
}

/** The outcomes of the queued deliveries: a bar and the numbers. */
export function Outcomes({ replay: { done, outcomes } }: { readonly replay: Replay }) {
  if (done === 0) return <span className="text-muted">{t.nothing}</span>;
  const parts = OUTCOMES.map((outcome) => ({ ...outcome, count: outcomes[outcome.key] })).filter(
    ({ count }) => count > 0,
  );
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span aria-hidden="true" className="flex h-2 w-32 overflow-hidden rounded-full bg-raised">
        {parts.map(({ key, count, colour }) => (
          <span key={key} className={colour} style={{ width: `${(100 * count) / done}%` }} />
        ))}
      </span>
      <span className="text-muted tabular-nums">
        {parts.map(({ key, count }) => t.outcomes[key]({ count: whole(count) })).join(", ")}
      </span>
    </span>
  );
}

const OUTCOMES = [
  { key: "delivered", colour: "bg-ok" },
  { key: "failed", colour: "bg-warn" },
  { key: "dead", colour: "bg-bad" },
  { key: "waiting", colour: "bg-calm" },
  { key: "replayed_again", colour: "bg-line" },
  { key: "in_batches", colour: "bg-line" },
] as const satisfies readonly { readonly key: keyof Replay["outcomes"]; readonly colour: string }[];

/** Whether deliveries of the replay will still change their outcome by themselves. */
export function isOpen({ state, outcomes }: Replay): boolean {
  return state === "scheduled" || state === "running" || outcomes.waiting + outcomes.failed > 0;
}
