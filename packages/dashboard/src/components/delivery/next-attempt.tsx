// What a delivery waits for, until when, and the remaining schedule.
import type { DeliveryDetail, WaitsFor } from "@posthorn/client";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { type RetryProgress, retryProgress } from "../../format/retry-progress.ts";
import { duration, exactUtc } from "../../format/time.ts";
import { explainWait } from "../../format/wait-texts.ts";
import { IdLink } from "../ui/links.tsx";
import { useNow } from "../ui/time.tsx";

const t = defineTexts({
  now: ["The next attempt is due now.", "Der nächste Versuch ist jetzt fällig."],
  used: ["{used} of {planned} attempts used", "{used} von {planned} Versuchen verbraucht"],
  after: ["Further attempts after {gaps}.", "Weitere Versuche nach {gaps}."],
  afterRandom: [
    "Further attempts after random delays of up to {gaps}.",
    "Weitere Versuche nach zufälligen Wartezeiten bis zu {gaps}.",
  ],
  earlier: ["Show the earlier delivery", "Die frühere Zustellung anzeigen"],
  last: ["This is the last attempt.", "Das ist der letzte Versuch."],
});

const MAX_DOTS = 24;

export function NextAttempt({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { state, tenant, endpoint_id: endpoint, waits_for: waits } = delivery;
  const isUnfinished = state === "failed" || waits !== null;
  const { data: receiver } = useApi("endpoints.get", { tenant, endpoint }, { enabled: isUnfinished });
  if (!isUnfinished) return null;
  const progress = receiver === undefined ? null : retryProgress(receiver.retry_policy, delivery);
  return (
    <div className="rounded-lg border border-line bg-calm-ground p-4 text-calm">
      {waits === null ? <p className="text-base font-semibold">{t.now}</p> : <WaitNote waits={waits} />}
      {progress !== null && (
        <>
          <p className="flex items-center gap-2 py-1 text-sm">
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
          {(waits === null || waits.reason === "retry_delay") && (
            <p className="text-sm">{laterText(progress)}</p>
          )}
        </>
      )}
    </div>
  );
}

export function WaitNote({ waits }: { readonly waits: WaitsFor }) {
  const { what, remedy } = explainWait(waits, useNow());
  return (
    <>
      <p
        className="text-base font-semibold"
        {...(waits.until !== null && { title: exactUtc(new Date(waits.until)) })}
      >
        {what}
      </p>
      {remedy !== "" && <p className="text-sm">{remedy}</p>}
      {waits.blocked_by !== null && (
        <p className="text-sm">
          <IdLink to="/deliveries/$id" id={waits.blocked_by}>
            {t.earlier}
          </IdLink>
        </p>
      )}
    </>
  );
}

function laterText({ laterDelaysMs, isRandom }: RetryProgress): string {
  if (laterDelaysMs.length === 0) return t.last;
  const gaps = laterDelaysMs.map(duration).join(", ");
  return isRandom ? t.afterRandom({ gaps }) : t.after({ gaps });
}
