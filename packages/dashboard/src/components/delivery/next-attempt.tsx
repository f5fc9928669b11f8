// What a delivery waits for, until when, and the remaining schedule.
import type { DeliveryDetail, Endpoint, WaitsFor } from "@posthorn/client";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { duration, exactUtc } from "../../format/time.ts";
import { explainWait } from "../../format/wait-texts.ts";
import { useNow } from "../ui/time.tsx";

const t = defineTexts({
  now: ["The next attempt is due now.", "Der nächste Versuch ist jetzt fällig."],
  used: ["{used} of {planned} attempts used", "{used} von {planned} Versuchen verbraucht"],
  after: ["Further attempts after {gaps}.", "Weitere Versuche nach {gaps}."],
  last: ["This is the last attempt.", "Das ist der letzte Versuch."],
});

const MAX_DOTS = 24;

export function NextAttempt({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { attempt_count: used, state, tenant, endpoint_id: endpoint, waits_for: waits } = delivery;
  const isUnfinished = state === "failed" || waits !== null;
  const { data: receiver } = useApi("endpoints.get", { tenant, endpoint }, { enabled: isUnfinished });
  if (!isUnfinished) return null;
  const gaps = receiver === undefined ? [] : gapsOf(receiver.retry_policy);
  const rest = gaps.slice(used);
  const planned = gaps.length + 1;
  return (
    <div className="rounded-lg border border-line bg-calm-ground p-4 text-calm">
      {waits === null ? <p className="text-base font-semibold">{t.now}</p> : <WaitNote waits={waits} />}
      {receiver !== undefined && (
        <>
          <p className="flex items-center gap-2 py-1 text-sm">
            <span aria-hidden="true" className="flex gap-1">
              {Array.from({ length: Math.min(planned, MAX_DOTS) }, (_, index) => (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the dots never change order
                  key={index}
                  className={`size-2 rounded-full border border-current ${index < used ? "bg-current" : ""}`}
                />
              ))}
            </span>
            {t.used({ used, planned })}
          </p>
          {(waits === null || waits.reason === "retry_delay") && (
            <p className="text-sm">
              {rest.length > 0 ? t.after({ gaps: rest.map(duration).join(", ") }) : t.last}
            </p>
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
    </>
  );
}

/** The maximum waits between attempts in milliseconds. */
function gapsOf(policy: Endpoint["retry_policy"]): readonly number[] {
  if (policy.gaps_ms !== undefined) return policy.gaps_ms;
  const { base_ms = 0, cap_ms = 0, max_attempts = 1 } = policy;
  return Array.from({ length: max_attempts - 1 }, (_, index) => Math.min(cap_ms, base_ms * 2 ** index));
}
