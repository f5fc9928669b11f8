// "Next retry in 4 m 12 s, at 14:03", or what it waits for instead; and the rest of the schedule.
import type { Delivery, DeliveryDetail, Endpoint } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { type Hold, holdOf } from "../../format/hold.ts";
import { clockTime, duration, exactUtc } from "../../format/time.ts";
import { useNow } from "../ui/time.tsx";

const texts = defineTexts({
  en: {
    next: (wait: string, at: string) => `Next retry in ${wait}, at ${at}`,
    now: "The next attempt is due now.",
    used: (used: number, planned: number) => `${used} of ${planned} attempts used`,
    after: (gaps: string) => `If that fails, again after ${gaps}.`,
    last: "That is the last one.",
    tenant: "It waits: the tenant is inactive.",
    tenantRemedy: "It is sent when the tenant is activated again.",
    endpoint: "It waits: the endpoint is disabled.",
    endpointRemedy:
      "It is sent when the endpoint is enabled again, unless what has piled up is discarded then.",
    handshake: "It waits: its receiver has not agreed to webhooks.",
    handshakeRemedy: "The endpoint's page says what it answered. It is sent when the receiver agrees.",
    circuit: (wait: string, at: string) =>
      `It waits: the circuit is open. It is probed in ${wait}, at ${at}.`,
    circuitRemedy:
      "The endpoint failed too often in a row. The probe is one delivery; if it succeeds, the others follow.",
    throttle: (wait: string, at: string) =>
      `It waits: the receiver asked for a pause that ends in ${wait}, at ${at}.`,
    throttleRemedy: "It answered 429 or 503. After the pause it goes on by itself.",
    probe: "It waits: the circuit is being probed.",
    probeRemedy: "One delivery is on its way. If it succeeds, the others follow.",
  },
  de: {
    next: (wait: string, at: string) => `Nächster Versuch in ${wait}, um ${at}`,
    now: "Der nächste Versuch ist jetzt fällig.",
    used: (used: number, planned: number) => `${used} von ${planned} Versuchen verbraucht`,
    after: (gaps: string) => `Scheitert er, dann wieder nach ${gaps}.`,
    last: "Das ist der letzte.",
    tenant: "Sie wartet: Der Mandant ist abgeschaltet.",
    tenantRemedy: "Gesendet wird, sobald der Mandant wieder eingeschaltet ist.",
    endpoint: "Sie wartet: Der Endpunkt ist abgeschaltet.",
    endpointRemedy:
      "Gesendet wird, sobald der Endpunkt wieder eingeschaltet ist, falls Aufgelaufenes dann nicht verworfen wird.",
    handshake: "Sie wartet: Ihr Empfänger hat Webhooks nicht zugestimmt.",
    handshakeRemedy:
      "Auf der Seite des Endpunkts steht, was er antwortete. Gesendet wird, sobald er zustimmt.",
    circuit: (wait: string, at: string) =>
      `Sie wartet: Die Sicherung ist offen. Die nächste Probe ist in ${wait}, um ${at}.`,
    circuitRemedy:
      "Der Endpunkt scheiterte zu oft in Folge. Die Probe ist eine einzelne Zustellung; gelingt sie, folgen die anderen.",
    throttle: (wait: string, at: string) =>
      `Sie wartet: Der Empfänger bat um eine Pause. Sie endet in ${wait}, um ${at}.`,
    throttleRemedy: "Er antwortete mit 429 oder 503. Nach der Pause geht es von selbst weiter.",
    probe: "Sie wartet: Die Sicherung wird gerade geprobt.",
    probeRemedy: "Eine Zustellung ist unterwegs. Gelingt sie, folgen die anderen.",
  },
});

const REFRESH_MS = 5_000;

export function NextAttempt({ delivery }: { readonly delivery: DeliveryDetail }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const { attempt_count: used } = delivery;
  const { receiver } = useSurroundings(delivery);
  const hold = useHold(delivery);
  if (!isOwed(delivery) || (hold === null && delivery.next_retry_at === null)) return null;
  const at = delivery.next_retry_at === null ? null : new Date(delivery.next_retry_at);
  const gaps = receiver === undefined ? [] : gapsOf(receiver.retry_policy);
  const rest = gaps.slice(used);
  return (
    <div className="rounded-lg border border-line bg-calm-ground p-4 text-calm">
      {hold !== null ? (
        <HoldNote hold={hold} />
      ) : (
        at !== null && (
          <p className="text-base font-semibold" title={exactUtc(at)}>
            {at.getTime() <= now ? t.now : t.next(duration(at.getTime() - now), clockTime(at, language))}
          </p>
        )
      )}
      {receiver !== undefined && (
        <>
          <Dots used={used} planned={gaps.length + 1} label={t.used(used, gaps.length + 1)} />
          {hold === null && (
            <p className="text-sm">{rest.length > 0 ? t.after(rest.map(duration).join(", ")) : t.last}</p>
          )}
        </>
      )}
    </div>
  );
}

function isOwed({ state }: Delivery): boolean {
  return state === "pending" || state === "failed";
}

/** What a delivery is sent to, as long as it is. */
function useSurroundings(delivery: Delivery) {
  const { tenant, endpoint_id: endpoint } = delivery;
  const { data: receiver } = useQuery({
    queryKey: ["endpoint", endpoint],
    queryFn: ({ signal }) => api.endpoints.get({ tenant, endpoint, signal }),
    enabled: isOwed(delivery),
    refetchInterval: REFRESH_MS,
  });
  const { data: owner } = useQuery({
    queryKey: ["tenant", tenant],
    queryFn: ({ signal }) => api.tenants.get({ tenant, signal }),
    enabled: isOwed(delivery),
    refetchInterval: REFRESH_MS,
  });
  return { receiver, owner };
}

/** Null: nothing but its time, or not known yet. */
export function useHold(delivery: Delivery): Hold | null {
  const now = useNow();
  const { receiver, owner } = useSurroundings(delivery);
  return receiver && owner ? holdOf(delivery, receiver, owner, now) : null;
}

export function HoldNote({ hold }: { readonly hold: Hold }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const now = useNow();
  const what =
    "until" in hold
      ? t[hold.by](duration(hold.until.getTime() - now), clockTime(hold.until, language))
      : t[hold.by];
  return (
    <>
      <p className="text-base font-semibold" {...("until" in hold && { title: exactUtc(hold.until) })}>
        {what}
      </p>
      <p className="text-sm">{t[`${hold.by}Remedy`]}</p>
    </>
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
