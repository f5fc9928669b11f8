// When the next attempt is due, or why the delivery is held, and the remaining schedule.
import type { Delivery, DeliveryDetail, Endpoint } from "@posthorn/client";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { type Hold, holdOf } from "../../format/hold.ts";
import { clockTime, duration, exactUtc } from "../../format/time.ts";
import { useNow } from "../ui/time.tsx";

const t = defineTexts({
  next: ["Next attempt in {wait}, at {at}", "Nächster Versuch in {wait}, um {at}"],
  now: ["The next attempt is due now.", "Der nächste Versuch ist jetzt fällig."],
  used: ["{used} of {planned} attempts used", "{used} von {planned} Versuchen verbraucht"],
  after: ["Further attempts after {gaps}.", "Weitere Versuche nach {gaps}."],
  last: ["This is the last attempt.", "Das ist der letzte Versuch."],
  tenant: ["On hold: the tenant is inactive.", "Angehalten: Der Mandant ist inaktiv."],
  tenantRemedy: [
    "The delivery continues when the tenant is activated.",
    "Die Zustellung wird fortgesetzt, sobald der Mandant aktiviert wird.",
  ],
  endpoint: ["On hold: the endpoint is disabled.", "Angehalten: Der Endpunkt ist deaktiviert."],
  endpointRemedy: [
    "The delivery continues when the endpoint is enabled, unless the backlog is discarded.",
    "Die Zustellung wird fortgesetzt, sobald der Endpunkt aktiviert wird, sofern der Rückstand nicht verworfen wird.",
  ],
  handshake: [
    "On hold: the receiver has not consented to webhooks.",
    "Angehalten: Die Zustimmung des Empfängers fehlt.",
  ],
  handshakeRemedy: [
    "The delivery continues when the receiver consents. Its response is shown on the endpoint's page.",
    "Die Zustellung wird fortgesetzt, sobald der Empfänger zustimmt. Seine Antwort steht auf der Seite des Endpunkts.",
  ],
  circuit: [
    "Circuit open: deliveries are paused. Next probe in {wait}, at {at}.",
    "Circuit Breaker offen: Die Zustellungen sind angehalten. Nächster Testversuch in {wait}, um {at}.",
  ],
  circuitRemedy: [
    "The endpoint failed too often. The probe is a single delivery; if it succeeds, deliveries resume.",
    "Der Endpunkt ist zu oft fehlgeschlagen. Der Testversuch ist eine einzelne Zustellung. Gelingt er, werden die Zustellungen fortgesetzt.",
  ],
  throttle: [
    "Throttled: the receiver asked to pause. Deliveries resume in {wait}, at {at}.",
    "Gedrosselt: Der Empfänger hat um eine Pause gebeten. Weiter in {wait}, um {at}.",
  ],
  throttleRemedy: [
    "The receiver returned HTTP 429, 502, 503 or 504. No action is needed.",
    "Der Empfänger hat HTTP 429, 502, 503 oder 504 zurückgegeben. Es ist nichts zu tun.",
  ],
  probe: [
    "Circuit half-open: the endpoint is being probed.",
    "Circuit Breaker halb offen: Der Endpunkt wird getestet.",
  ],
  probeRemedy: [
    "If the probes succeed, deliveries resume.",
    "Gelingen die Testversuche, werden die Zustellungen fortgesetzt.",
  ],
});

const REFRESH_MS = 5_000;
const MAX_DOTS = 24;

export function NextAttempt({ delivery }: { readonly delivery: DeliveryDetail }) {
  const now = useNow();
  const { attempt_count: used } = delivery;
  const { receiver } = useRelated(delivery);
  const hold = useHold(delivery);
  if (!isUnfinished(delivery) || (hold === null && delivery.next_retry_at === null)) return null;
  const at = delivery.next_retry_at === null ? null : new Date(delivery.next_retry_at);
  const gaps = receiver === undefined ? [] : gapsOf(receiver.retry_policy);
  const rest = gaps.slice(used);
  const planned = gaps.length + 1;
  return (
    <div className="rounded-lg border border-line bg-calm-ground p-4 text-calm">
      {hold !== null ? (
        <HoldNote hold={hold} />
      ) : (
        at !== null && (
          <p className="text-base font-semibold" title={exactUtc(at)}>
            {at.getTime() <= now ? t.now : t.next({ wait: duration(at.getTime() - now), at: clockTime(at) })}
          </p>
        )
      )}
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
          {hold === null && (
            <p className="text-sm">
              {rest.length > 0 ? t.after({ gaps: rest.map(duration).join(", ") }) : t.last}
            </p>
          )}
        </>
      )}
    </div>
  );
}

function isUnfinished({ state }: Delivery): boolean {
  return state === "pending" || state === "failed";
}

function useRelated(delivery: Delivery) {
  const { tenant, endpoint_id: endpoint } = delivery;
  const options = { enabled: isUnfinished(delivery), refetchInterval: REFRESH_MS };
  const { data: receiver } = useApi("endpoints.get", { tenant, endpoint }, options);
  const { data: owner } = useApi("tenants.get", { tenant }, options);
  return { receiver, owner };
}

/** Null if the delivery is not held, or until loaded. */
export function useHold(delivery: Delivery): Hold | null {
  const now = useNow();
  const { receiver, owner } = useRelated(delivery);
  return receiver && owner ? holdOf(delivery, receiver, owner, now) : null;
}

export function HoldNote({ hold }: { readonly hold: Hold }) {
  const now = useNow();
  const what =
    "until" in hold
      ? t[hold.by]({ wait: duration(hold.until.getTime() - now), at: clockTime(hold.until) })
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

/** The maximum waits between attempts in milliseconds. */
function gapsOf(policy: Endpoint["retry_policy"]): readonly number[] {
  if (policy.gaps_ms !== undefined) return policy.gaps_ms;
  const { base_ms = 0, cap_ms = 0, max_attempts = 1 } = policy;
  return Array.from({ length: max_attempts - 1 }, (_, index) => Math.min(cap_ms, base_ms * 2 ** index));
}
