// "Next retry in 4 m 12 s, at 14:03", and the rest of the schedule.
import type { DeliveryDetail, Endpoint } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { defineTexts, useLanguage, useTexts } from "../app/texts.ts";
import { clockTime, duration, exactUtc } from "../format/time.ts";
import { useNow } from "./time.tsx";

const texts = defineTexts({
  en: {
    next: (wait: string, at: string) => `Next retry in ${wait}, at ${at}`,
    now: "The next attempt is due now.",
    used: (used: number, planned: number) => `${used} of ${planned} attempts used`,
    after: (gaps: string) => `If that fails, again after ${gaps}.`,
    last: "That is the last one.",
  },
  de: {
    next: (wait: string, at: string) => `Nächster Versuch in ${wait}, um ${at}`,
    now: "Der nächste Versuch ist jetzt fällig.",
    used: (used: number, planned: number) => `${used} von ${planned} Versuchen verbraucht`,
    after: (gaps: string) => `Scheitert er, dann wieder nach ${gaps}.`,
    last: "Das ist der letzte.",
  },
});

export function NextAttempt({ delivery }: { readonly delivery: DeliveryDetail }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const { data: endpoint } = useQuery({
    queryKey: ["endpoint", delivery.endpoint_id],
    queryFn: ({ signal }) =>
      api.endpoints.get({ tenant: delivery.tenant, endpoint: delivery.endpoint_id, signal }),
    enabled: delivery.next_retry_at !== null,
  });
  if (delivery.next_retry_at === null) return null;
  const at = new Date(delivery.next_retry_at);
  const gaps = endpoint === undefined ? [] : gapsOf(endpoint.retry_policy);
  const rest = gaps.slice(delivery.attempt_count);
  return (
    <div className="rounded-lg border border-line bg-calm-ground p-4 text-calm">
      <p className="text-base font-semibold" title={exactUtc(at)}>
        {at.getTime() <= now ? t.now : t.next(duration(at.getTime() - now), clockTime(at, language))}
      </p>
      {endpoint !== undefined && (
        <>
          <Dots
            used={delivery.attempt_count}
            planned={gaps.length + 1}
            label={t.used(delivery.attempt_count, gaps.length + 1)}
          />
          <p className="text-sm">{rest.length > 0 ? t.after(rest.map(duration).join(", ")) : t.last}</p>
        </>
      )}
    </div>
  );
}

function Dots({
  used,
  planned,
  label,
}: {
  readonly used: number;
  readonly planned: number;
  readonly label: string;
}) {
  return (
    <p className="flex items-center gap-2 py-1 text-sm">
      <span aria-hidden="true" className="flex gap-1">
        {Array.from({ length: Math.min(planned, 24) }, (_, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and never change places
            key={index}
            className={`size-2 rounded-full border border-current ${index < used ? "bg-current" : ""}`}
          />
        ))}
      </span>
      {label}
    </p>
  );
}

/** Milliseconds from one attempt to the next, at most. */
function gapsOf(policy: Endpoint["retry_policy"]): readonly number[] {
  if (policy.gaps_ms !== undefined) return policy.gaps_ms;
  const { base_ms = 0, cap_ms = 0, max_attempts = 1 } = policy;
  return Array.from({ length: max_attempts - 1 }, (_, index) => Math.min(cap_ms, base_ms * 2 ** index));
}
