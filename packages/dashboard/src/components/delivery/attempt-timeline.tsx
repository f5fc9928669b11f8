// The attempts of a delivery on a line of time, newest first, with the next one on top.
import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { type ReactNode, useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { explain, explanationKey, triggerTexts, whyKeys } from "../../format/delivery-texts.ts";
import { clockTime, duration } from "../../format/time.ts";
import { Ago, Countdown } from "../ui/time.tsx";
import { AttemptExchange } from "./attempt-exchange.tsx";
import { isDelivered, OutcomeBadge } from "./state-badge.tsx";
import { Waterfall } from "./waterfall.tsx";

const t = defineTexts({
  attempt: ["Attempt {number}", "Versuch {number}"],
  scheduled: ["scheduled {at}", "geplant {at}"],
  noAttempts: ["No attempts yet.", "Noch keine Versuche."],
});

export function AttemptTimeline({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { attempts, waits_for: waits } = delivery;
  // the banner of the delivery explains it
  const explained = new Set(whyKeys(delivery));
  const nextAt = waits?.reason === "retry_delay" ? waits.until : null;
  return (
    <>
      {attempts.length === 0 && <p className="text-muted">{t.noAttempts}</p>}
      <ol className="flex flex-col">
        {nextAt !== null && (
          <Moment dot="border-2 border-muted bg-surface">
            <p className="flex flex-wrap items-baseline gap-2 pb-4">
              <span className="font-medium">{t.attempt({ number: delivery.attempt_count + 1 })}</span>
              <span className="text-muted">{t.scheduled({ at: clockTime(new Date(nextAt)) })}</span>
              <span className="ml-auto text-muted">
                <Countdown until={nextAt} />
              </span>
            </p>
          </Moment>
        )}
        {attempts
          .map((attempt, index) => (
            <AttemptItem
              key={attempt.number}
              delivery={delivery.id}
              attempt={attempt}
              previous={attempts[index - 1]}
              isNewest={index === attempts.length - 1}
              isExplained={explained.has(explanationKey(attempt))}
            />
          ))
          .toReversed()}
      </ol>
    </>
  );
}

/** A point on the line. */
function Moment({ dot, children }: { readonly dot: string; readonly children: ReactNode }) {
  return (
    <li className="group relative pl-6">
      <span
        aria-hidden="true"
        className="absolute top-2 bottom-0 left-[5px] w-px bg-line group-last:hidden"
      />
      <span aria-hidden="true" className={`absolute top-1.5 left-0 size-[11px] rounded-full ${dot}`} />
      {children}
    </li>
  );
}

function AttemptItem({
  delivery,
  attempt,
  previous,
  isNewest,
  isExplained,
}: {
  readonly delivery: string;
  readonly attempt: Attempt;
  readonly previous: Attempt | undefined;
  readonly isNewest: boolean;
  readonly isExplained: boolean;
}) {
  const [isOpen, setOpen] = useState(isNewest);
  const { what, remedy } = explain(explanationKey(attempt));
  return (
    <Moment dot={isDelivered(attempt) ? "bg-ok" : "bg-bad"}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} className="pb-4">
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="font-medium">{t.attempt({ number: attempt.number })}</span>
          <OutcomeBadge attempt={attempt} />
          <span className="text-muted">{triggerTexts[attempt.trigger]}</span>
          <span className="ml-auto flex gap-3 text-muted">
            {attempt.duration_ms !== null && (
              <span className="tabular-nums">{duration(attempt.duration_ms)}</span>
            )}
            {attempt.started_at !== null && <Ago at={attempt.started_at} />}
          </span>
        </summary>
        {isOpen && (
          <div className="flex flex-col gap-4 pt-3">
            {!isExplained && (
              <p>
                {what}. {remedy}
              </p>
            )}
            <Waterfall attempt={attempt} previous={previous} />
            <AttemptExchange delivery={delivery} attempt={attempt} />
          </div>
        )}
      </details>
    </Moment>
  );
}
