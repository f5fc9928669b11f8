// The backlog by what its deliveries wait for.
import type { System, WaitsFor } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";
import { waitName } from "../../format/wait-texts.ts";

const t = defineTexts({
  inFlight: ["Being sent", "Wird gesendet"],
  due: ["Due", "Fällig"],
  overdue: ["Overdue by more than a minute", "Seit mehr als einer Minute überfällig"],
  waiting: ["Waiting", "Wartend"],
  empty: ["No unfinished deliveries.", "Keine offenen Zustellungen."],
  estimated: [
    "Estimated from a sample, because there are more than 10,000.",
    "Aus einer Stichprobe geschätzt, weil es mehr als 10.000 sind.",
  ],
  noneOverdue: ["none overdue", "keine überfällig"],
  manyOverdue: ["{count} overdue, the oldest by {age}", "{count} überfällig, die älteste seit {age}"],
  noneOverdueButWaiting: ["{count} waiting, none overdue", "{count} wartend, keine überfällig"],
});

type Backlog = System["backlog"];

export function waitingInAll({ waiting }: Backlog): number {
  return Object.values(waiting).reduce((sum, count) => sum + count, 0);
}

/** One line for a figure. */
export function backlogNote(backlog: Backlog): string {
  const { overdue, oldest_due_age_seconds } = backlog;
  if (overdue > 0)
    return t.manyOverdue({ count: whole(overdue), age: duration(oldest_due_age_seconds * 1_000) });
  const waiting = waitingInAll(backlog);
  return waiting > 0 ? t.noneOverdueButWaiting({ count: whole(waiting) }) : t.noneOverdue;
}

/** The parts of the backlog as a list, each with a bar of its share. Parts without deliveries are left out. */
export function BacklogParts({ backlog }: { readonly backlog: Backlog }) {
  const { count, in_flight, due, overdue, waiting, is_exact } = backlog;
  if (count === 0) return <p className="text-muted">{t.empty}</p>;
  const reasons = Object.entries(waiting) as [WaitsFor["reason"], number][];
  const parts: readonly (readonly [name: string, count: number, colour: string])[] = [
    [t.inFlight, in_flight, "bg-ok"],
    [t.due, due, "bg-calm"],
    [t.overdue, overdue, "bg-bad"],
    ...reasons
      .toSorted(([, a], [, b]) => b - a)
      .map(([reason, held]) => [`${t.waiting}: ${waitName(reason)}`, held, "bg-warn"] as const),
  ];
  return (
    <>
      <dl className="flex flex-col gap-1.5">
        {parts
          .filter(([, part]) => part > 0)
          .map(([name, part, colour]) => (
            <div
              key={name}
              className="grid grid-cols-[1fr_auto] items-center gap-x-3 sm:grid-cols-[18rem_1fr_5rem]"
            >
              <dt className="text-sm">{name}</dt>
              <span aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-raised max-sm:hidden">
                <span
                  className={`block h-full rounded-full ${colour}`}
                  style={{ width: `${Math.min(100, (100 * part) / count)}%` }}
                />
              </span>
              <dd className="text-right tabular-nums">{whole(part)}</dd>
            </div>
          ))}
      </dl>
      {!is_exact && <p className="pt-2 text-sm text-muted">{t.estimated}</p>}
    </>
  );
}
