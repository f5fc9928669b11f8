// What is wrong with a delivery, what happens next, and what to do about it: one banner, or none if nothing is wrong.
import type { DeliveryDetail, Endpoint } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { explainDelivery } from "../../format/delivery-texts.ts";
import { type RetryProgress, retryProgress } from "../../format/retry-progress.ts";
import { duration } from "../../format/time.ts";
import { Banner } from "../ui/banner.tsx";
import { WaitHead, WaitRemedy } from "./wait-note.tsx";

const t = defineTexts({
  now: ["The next attempt is due now.", "Der nächste Versuch ist jetzt fällig."],
  dead: [
    "The delivery is a dead letter: it is not attempted again.",
    "Die Zustellung ist ein Dead Letter: Es folgt kein weiterer Versuch.",
  ],
  used: ["{used} of {planned} attempts used", "{used} von {planned} Versuchen verbraucht"],
  after: ["Further attempts after {gaps}.", "Weitere Versuche nach {gaps}."],
  afterRandom: [
    "Further attempts after random delays of up to {gaps}.",
    "Weitere Versuche nach zufälligen Wartezeiten bis zu {gaps}.",
  ],
  last: ["This is the last attempt.", "Das ist der letzte Versuch."],
});

const MAX_DOTS = 24;

export function DeliveryBanner({
  delivery,
  endpoint,
}: {
  readonly delivery: DeliveryDetail;
  /** Undefined until it is loaded, and if it was deleted. */
  readonly endpoint: Endpoint | undefined;
}) {
  const { state, waits_for: waits } = delivery;
  const why = explainDelivery(delivery);
  const isUnfinished = state === "failed" || waits !== null;
  if (why === null && !isUnfinished) return null;
  const isWaiting = why === null;
  return (
    <Banner
      tone={state === "dead" ? "bad" : isWaiting ? "calm" : "warn"}
      happened={why?.cause ?? (waits === null ? t.now : <WaitHead waits={waits} />)}
      next={
        <>
          {state === "dead" && <p>{why?.effect ?? t.dead}</p>}
          {waits !== null && !isWaiting && <WaitHead waits={waits} />}
          {waits !== null && <WaitRemedy waits={waits} />}
          {waits === null && state === "failed" && !isWaiting && <p>{t.now}</p>}
          {isUnfinished && endpoint !== undefined && (
            <Progress
              progress={retryProgress(endpoint.retry_policy, delivery)}
              isScheduled={waits === null || waits.reason === "retry_delay"}
            />
          )}
        </>
      }
      remedy={why?.remedy || undefined}
    />
  );
}

function Progress({
  progress,
  isScheduled,
}: {
  readonly progress: RetryProgress;
  readonly isScheduled: boolean;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <p className="flex items-center gap-2">
        <span aria-hidden="true" className="flex gap-1">
          {Array.from({ length: Math.min(progress.planned, MAX_DOTS) }, (_, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: the dots never change order
              key={index}
              className={`size-2 rounded-full border border-current ${index < progress.used ? "bg-current" : ""}`}
            />
          ))}
        </span>
        {t.used(progress)}
      </p>
      {isScheduled && <p>{laterText(progress)}</p>}
    </div>
  );
}

function laterText({ laterDelaysMs, isRandom }: RetryProgress): string {
  if (laterDelaysMs.length === 0) return t.last;
  const gaps = laterDelaysMs.map(duration).join(", ");
  return isRandom ? t.afterRandom({ gaps }) : t.after({ gaps });
}
