// The overview of an endpoint: problems, settings, charts and recent attempts.
import type { Endpoint, EndpointAttempt } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { explain, explanationKey, lastErrorKey, triggerTexts } from "../../format/delivery-texts.ts";
import { retryPolicyText } from "../../format/endpoint-form.ts";
import { formatTexts } from "../../format/format-texts.ts";
import { bytes, whole } from "../../format/number.ts";
import { headersOf, isByKeyPair } from "../../format/signature-schemes.ts";
import { duration } from "../../format/time.ts";
import { ActivityCharts, usePeriod } from "../chart/activity-charts.tsx";
import { successRateText } from "../chart/success-rate.tsx";
import { isDelivered, OutcomeBadge } from "../delivery/state-badge.tsx";
import { type Column, DataTable } from "../list/data-table.tsx";
import { Banner } from "../ui/banner.tsx";
import { buttonClass } from "../ui/button.tsx";
import { Fact, Facts, NothingYet, NotLoaded, Panel, TimeFact } from "../ui/page.tsx";
import { Ago, Countdown } from "../ui/time.tsx";
import { Consent } from "./consent.tsx";
import { PublicKeys } from "./new-secret.tsx";

const t = defineTexts({
  gone: [
    "Disabled: the receiver returned HTTP 410 (Gone). Deliveries are kept.",
    "Deaktiviert: Der Empfänger hat HTTP 410 (Gone) zurückgegeben. Zustellungen werden aufbewahrt.",
  ],
  failures: [
    "Disabled after too many consecutive failures. Deliveries are kept.",
    "Nach zu vielen Fehlern in Folge deaktiviert. Zustellungen werden aufbewahrt.",
  ],
  no_success: [
    "Disabled after days without a successful delivery. Deliveries are kept.",
    "Nach Tagen ohne erfolgreiche Zustellung deaktiviert. Zustellungen werden aufbewahrt.",
  ],
  manual: ["Disabled manually. Deliveries are kept.", "Manuell deaktiviert. Zustellungen werden aufbewahrt."],
  open: ["Circuit open: deliveries are paused.", "Circuit Breaker offen: Die Zustellungen sind angehalten."],
  probe: ["Next probe in", "Nächster Testversuch in"],
  half_open: [
    "Circuit half-open: sending a few deliveries to check the receiver.",
    "Circuit Breaker halb offen: Einige Zustellungen werden gesendet, um den Empfänger zu prüfen.",
  ],
  throttled: [
    "Throttled: the receiver asked to pause. Deliveries resume in",
    "Gedrosselt: Der Empfänger hat um eine Pause gebeten. Weiter in",
  ],
  failedOnce: ["The last attempt failed.", "Der letzte Versuch ist fehlgeschlagen."],
  failing: ["The last {count} attempts failed.", "Die letzten {count} Versuche sind fehlgeschlagen."],
  last: ["Last error", "Letzter Fehler"],
  since: ["Since", "Seit"],
  topic: ["WebSub topic", "WebSub-Topic"],
  lease: ["Subscription expires", "Abonnement läuft ab"],
  leaseHint: [
    "Managed by the subscriber, who may renew it. Deleting the endpoint ends the subscription.",
    "Vom Abonnenten verwaltet, der es verlängern kann. Das Löschen des Endpunkts beendet das Abonnement.",
  ],
  inFlight: ["Concurrent attempts", "Gleichzeitige Versuche"],
  inFlightNow: ["At most {count} now", "Derzeit höchstens {count}"],
  inFlightRange: [
    "{least} to {most}: more while responses are fast and successful. Updated every few seconds.",
    "{least} bis {most}: mehr, solange die Antworten schnell und erfolgreich sind. Wird alle paar Sekunden aktualisiert.",
  ],
  retries: ["Retry policy", "Retry-Richtlinie"],
  deliveries: ["All deliveries", "Alle Zustellungen"],
  result: ["Outcome", "Ergebnis"],
  error: ["Error", "Fehler"],
  number: ["Attempt", "Versuch"],
  deliveryId: ["Delivery id", "Zustellungs-ID"],
  eventId: ["Event id", "Ereignis-ID"],
  took: ["Duration", "Dauer"],
  trigger: ["Trigger", "Auslöser"],
  noAttempts: ["No attempts yet", "Noch keine Versuche"],
  body: "Body",
  batch: "Batches",
  bounds: [
    "At most {events} events or {size}, sent at most {delay} after the first event.",
    "Höchstens {events} Ereignisse oder {size}, spätestens {delay} nach dem ersten Ereignis.",
  ],
  verify: ["How to verify", "So wird geprüft"],
  keys: ["Public keys", "Öffentliche Schlüssel"],
  tokens: {
    bearer: ["Set. Sent in the Authorization header.", "Gesetzt. Wird im Authorization-Header gesendet."],
    query: ["Set. Sent as access_token in the URL.", "Gesetzt. Wird als access_token in der URL gesendet."],
  },
});

const REFRESH_MS = 5_000;

export function EndpointOverview({ endpoint }: { readonly endpoint: Endpoint }) {
  const { period, periodChoice } = usePeriod("day");
  const { tenant, id } = endpoint;
  const query = { tenant, endpoint: id, period };
  const activity = useApi("activity.get", { query }, { refetchInterval: REFRESH_MS });
  return (
    <>
      <Trouble endpoint={endpoint} />
      <Consent endpoint={endpoint} />
      <Panel>
        <Facts>
          <Fact name={t.eventTypes}>
            <span className="font-mono text-xs">{endpoint.events.join(", ")}</span>
          </Fact>
          {endpoint.websub === null ? (
            <RequestFacts endpoint={endpoint} />
          ) : (
            <>
              <Fact name={t.topic}>
                <span className="font-mono text-xs break-all">{endpoint.websub.topic}</span>
              </Fact>
              <Fact name={t.lease}>
                <Ago at={endpoint.websub.lease_expires_at} />
                <span className="block text-xs text-muted">{t.leaseHint}</span>
              </Fact>
            </>
          )}
          <InFlightFact endpoint={endpoint} />
          <Fact name={t.retries}>
            <span className="font-mono text-xs">{retryPolicyText(endpoint.retry_policy)}</span>
          </Fact>
          <TimeFact name={t.created} at={endpoint.created_at} />
          <TimeFact name={t.updated} at={endpoint.updated_at} />
        </Facts>
      </Panel>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p>
          {t.successRate}:{" "}
          <span className="font-semibold tabular-nums">
            {successRateText(activity.data?.total.success_rate ?? null)}
          </span>
        </p>
        {periodChoice}
      </div>
      {activity.data !== undefined ? (
        <ActivityCharts activity={activity.data} />
      ) : (
        <NotLoaded query={activity} />
      )}
      <Attempts endpoint={endpoint} />
    </>
  );
}

/** The current limit on attempts in flight, and its range if it varies. */
function InFlightFact({ endpoint }: { readonly endpoint: Endpoint }) {
  const { max_in_flight: least, max_in_flight_burst: most, health } = endpoint;
  return (
    <Fact name={t.inFlight}>
      {t.inFlightNow({ count: health.current_max_in_flight })}
      {most > least && <span className="block text-xs text-muted">{t.inFlightRange({ least, most })}</span>}
    </Fact>
  );
}

/** The parts of a request: body, signatures, token and public keys. */
function RequestFacts({ endpoint }: { readonly endpoint: Endpoint }) {
  const { format, batch, signature, authorization } = endpoint;
  return (
    <>
      <Fact name={t.body}>
        {format}. <span className="text-muted">{formatTexts[format]}</span>
      </Fact>
      {format === "cloudevents-batch" && (
        <Fact name={t.batch}>
          {t.bounds({
            events: whole(batch.max_events),
            size: bytes(batch.max_bytes),
            delay: duration(batch.max_delay_ms),
          })}
        </Fact>
      )}
      <Fact name={t.signature}>
        <ul>
          {signature.schemes.map((scheme) => (
            <li key={scheme}>
              {scheme}{" "}
              <code className="font-mono text-xs break-all text-muted">
                {headersOf(scheme, signature.header_prefix).join(", ")}
              </code>{" "}
              <Link to="/verify" search={{ scheme }} className="text-sm underline">
                {t.verify}
              </Link>
            </li>
          ))}
        </ul>
      </Fact>
      {signature.schemes.some(isByKeyPair) && (
        <Fact name={t.keys}>
          <PublicKeys endpoint={endpoint.id} />
        </Fact>
      )}
      {authorization !== null && <Fact name={t.token}>{t.tokens[authorization.type]}</Fact>}
    </>
  );
}

function Trouble({ endpoint }: { readonly endpoint: Endpoint }) {
  const { is_active, disabled_reason, disabled_at, circuit, health } = endpoint;
  const sentences: ReactNode[] = [];
  if (!is_active) sentences.push(t[disabled_reason as "manual"] ?? disabled_reason);
  else if (circuit !== "closed") sentences.push(t[circuit]);
  if (health.probe_at !== null)
    sentences.push(
      <>
        {t.probe} <Countdown until={health.probe_at} />
      </>,
    );
  if (health.throttled_until !== null)
    sentences.push(
      <>
        {t.throttled} <Countdown until={health.throttled_until} />
      </>,
    );
  const { consecutive_failures: count } = health;
  if (count > 0) sentences.push(count === 1 ? t.failedOnce : t.failing({ count }));
  if (sentences.length === 0) return null;
  const lastError = health.last_error === null ? null : explain(lastErrorKey(health.last_error));
  const since = disabled_at ?? health.failing_since;
  return (
    <Banner
      tone="warn"
      happened={sentences[0]}
      next={
        <>
          {sentences.slice(1).map((sentence, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes
            <p key={index}>{sentence}</p>
          ))}
          {since !== null && (
            <p>
              {t.since} <Ago at={since} />
            </p>
          )}
        </>
      }
      remedy={
        lastError === null ? undefined : (
          <p>
            {t.last}: <code>{health.last_error}</code>. {lastError.what}. {lastError.remedy}
          </p>
        )
      }
    />
  );
}

/** Enough for the last minutes of a busy endpoint, and for the last weeks of a quiet one. */
const ATTEMPTS_SHOWN = 100;

/** The attempts of the newest deliveries, newest attempt first. The API lists those of a delivery together. */
function Attempts({ endpoint: { tenant, id } }: { readonly endpoint: Endpoint }) {
  const query = useApi(
    "endpoints.listAttempts",
    { tenant, endpoint: id, query: { limit: ATTEMPTS_SHOWN } },
    { refetchInterval: REFRESH_MS },
  );
  const attempts = query.data?.data.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)));
  return (
    <Panel
      title={t.attempts}
      actions={
        <Link to="/deliveries" search={{ tenant, endpoint: id }} className={buttonClass()}>
          {t.deliveries}
        </Link>
      }
      isFlush
    >
      {attempts === undefined ? (
        <NotLoaded query={query} />
      ) : attempts.length === 0 ? (
        <NothingYet title={t.noAttempts} />
      ) : (
        <DataTable
          label={t.attempts}
          rows={attempts}
          keyOf={({ delivery_id, number }) => `${delivery_id}:${number}`}
          columns={attemptColumns()}
          linkTo={({ delivery_id }) => ({ to: "/deliveries/$id", params: { id: delivery_id } })}
        />
      )}
    </Panel>
  );
}

/** An attempt whose worker died has no time, and is the oldest. */
function timeOf({ started_at }: EndpointAttempt): string {
  return started_at ?? "";
}

function attemptColumns(): readonly Column<EndpointAttempt>[] {
  const errorOf = (attempt: EndpointAttempt) =>
    isDelivered(attempt) ? null : explain(explanationKey(attempt)).what;
  return [
    { key: "result", head: t.result, cell: (attempt) => <OutcomeBadge attempt={attempt} /> },
    {
      key: "type",
      head: t.eventType,
      share: 3,
      cell: ({ event_type }) => <code title={event_type}>{event_type}</code>,
      below: (attempt) => errorOf(attempt),
    },
    {
      key: "error",
      head: t.error,
      from: "xl",
      share: 4,
      cell: (attempt) => (
        <span title={attempt.response_body ?? undefined}>
          {errorOf(attempt) ?? "–"} <span className="text-muted">{shownBody(attempt)}</span>
        </span>
      ),
    },
    { key: "number", head: t.number, from: "md", isNumber: true, cell: ({ number }) => number },
    { key: "trigger", head: t.trigger, from: "lg", cell: ({ trigger }) => triggerTexts[trigger] },
    {
      key: "took",
      head: t.took,
      from: "sm",
      isNumber: true,
      cell: ({ duration_ms }) => (duration_ms === null ? "–" : duration(duration_ms)),
    },
    {
      key: "started",
      head: t.started,
      cell: ({ started_at }) => (started_at === null ? "–" : <Ago at={started_at} />),
    },
    {
      key: "delivery",
      head: t.deliveryId,
      from: "xl",
      share: 2,
      cell: ({ delivery_id }) => <code className="text-muted">{delivery_id}</code>,
    },
    {
      key: "event",
      head: t.eventId,
      from: "xl",
      share: 2,
      isExtra: true,
      cell: ({ event_id }) => <code className="text-muted">{event_id}</code>,
    },
  ];
}

/** What the receiver answered to a failed attempt. */
function shownBody(attempt: EndpointAttempt): string | null {
  return isDelivered(attempt) ? null : attempt.response_body;
}
