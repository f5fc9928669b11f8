// The overview of an endpoint: problems, settings, charts and recent attempts.
import type { Endpoint, EndpointAttempt } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, lastErrorKey, triggerTexts } from "../../format/delivery-texts.ts";
import { retryPolicyText } from "../../format/endpoint-form.ts";
import { duration } from "../../format/time.ts";
import { ActivityCharts, type Period, PeriodChoice } from "../chart/activity-charts.tsx";
import type { Column } from "../list/data-table.tsx";
import { ListView } from "../list/list.tsx";
import { Badge } from "../ui/badge.tsx";
import { buttonClass } from "../ui/button.tsx";
import { Countdown } from "../ui/countdown.tsx";
import { Fact, Facts, Panel } from "../ui/panel.tsx";
import { Failed, Loading, NothingYet } from "../ui/states.tsx";
import { Ago } from "../ui/time.tsx";
import { Consent } from "./consent.tsx";
import { RequestFacts } from "./request-facts.tsx";

const texts = defineTexts({
  en: {
    gone: "Disabled: the receiver returned HTTP 410 (Gone). Deliveries are kept.",
    failures: "Disabled after too many consecutive failures. Deliveries are kept.",
    no_success: "Disabled after days without a successful delivery. Deliveries are kept.",
    manual: "Disabled manually. Deliveries are kept.",
    open: "Circuit open: deliveries are paused.",
    probe: "Next probe in",
    half_open: "Circuit half-open: sending a few deliveries to check the receiver.",
    throttled: "Throttled: the receiver asked to pause. Deliveries resume in",
    failing: (count: number) =>
      count === 1 ? "The last attempt failed." : `The last ${count} attempts failed.`,
    last: "Last error",
    since: "Since",
    topic: "WebSub topic",
    lease: "Subscription expires",
    leaseHint: "Managed by the subscriber, who may renew it. Deleting the endpoint ends the subscription.",
    events: "Event types",
    retries: "Retries",
    made: "Created",
    changed: "Updated",
    attempts: "Attempts",
    deliveries: "All deliveries",
    result: "Outcome",
    took: "Duration",
    trigger: "Trigger",
    started: "Started",
    noAttempts: "No attempts yet",
  },
  de: {
    gone: "Deaktiviert: Der Empfänger hat HTTP 410 (Gone) zurückgegeben. Zustellungen werden aufbewahrt.",
    failures: "Nach zu vielen Fehlern in Folge deaktiviert. Zustellungen werden aufbewahrt.",
    no_success: "Nach Tagen ohne erfolgreiche Zustellung deaktiviert. Zustellungen werden aufbewahrt.",
    manual: "Manuell deaktiviert. Zustellungen werden aufbewahrt.",
    open: "Circuit offen: Die Zustellungen sind angehalten.",
    probe: "Nächster Testversuch in",
    half_open: "Circuit halb offen: Einige Zustellungen prüfen den Empfänger.",
    throttled: "Gedrosselt: Der Empfänger hat um eine Pause gebeten. Weiter in",
    failing: (count: number) =>
      count === 1
        ? "Der letzte Versuch ist fehlgeschlagen."
        : `Die letzten ${count} Versuche sind fehlgeschlagen.`,
    last: "Letzter Fehler",
    since: "Seit",
    topic: "WebSub-Topic",
    lease: "Abonnement läuft ab",
    leaseHint:
      "Vom Abonnenten verwaltet, der es verlängern kann. Das Löschen des Endpunkts beendet das Abonnement.",
    events: "Ereignistypen",
    retries: "Retry-Richtlinie",
    made: "Erstellt",
    changed: "Aktualisiert",
    attempts: "Versuche",
    deliveries: "Alle Zustellungen",
    result: "Ergebnis",
    took: "Dauer",
    trigger: "Auslöser",
    started: "Gestartet",
    noAttempts: "Noch keine Versuche",
  },
});

const REFRESH_MS = 5_000;

export function EndpointOverview({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const [period, setPeriod] = useState<Period>("day");
  const { tenant, id } = endpoint;
  const activity = useQuery({
    queryKey: ["activity", id, period],
    queryFn: ({ signal }) => api.activity.get({ query: { tenant, endpoint: id, period }, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <Trouble endpoint={endpoint} />
      <Consent endpoint={endpoint} />
      <Panel>
        <Facts>
          <Fact name={t.events}>
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
                <Ago at={endpoint.websub.lease_ends_at} />
                <span className="block text-xs text-muted">{t.leaseHint}</span>
              </Fact>
            </>
          )}
          <Fact name={t.retries}>
            <span className="font-mono text-xs">{retryPolicyText(endpoint.retry_policy)}</span>
          </Fact>
          <Fact name={t.made}>
            <Ago at={endpoint.created_at} />
          </Fact>
          <Fact name={t.changed}>
            <Ago at={endpoint.updated_at} />
          </Fact>
        </Facts>
      </Panel>
      <div className="flex justify-end">
        <PeriodChoice value={period} onChange={setPeriod} />
      </div>
      {activity.data !== undefined ? (
        <ActivityCharts activity={activity.data} />
      ) : activity.error === null ? (
        <Loading />
      ) : (
        <Failed error={activity.error} onRetry={() => void activity.refetch()} />
      )}
      <Attempts endpoint={endpoint} />
    </>
  );
}

function Trouble({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const language = useLanguage();
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
  if (health.consecutive_failures > 0) sentences.push(t.failing(health.consecutive_failures));
  if (sentences.length === 0) return null;
  const lastError = health.last_error === null ? null : explain(lastErrorKey(health.last_error), language);
  const since = disabled_at ?? health.failing_since;
  return (
    <div
      role="note"
      className="flex flex-col gap-1 rounded-lg border border-line bg-warn-ground p-4 text-warn"
    >
      {sentences.map((sentence, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes
        <p key={index} className={index === 0 ? "font-semibold" : ""}>
          {sentence}
        </p>
      ))}
      {lastError !== null && (
        <p>
          {t.last}: <code className="font-mono text-xs">{health.last_error}</code>. {lastError.what}.{" "}
          {lastError.remedy}
        </p>
      )}
      {since !== null && (
        <p>
          {t.since} <Ago at={since} />
        </p>
      )}
    </div>
  );
}

function Attempts({ endpoint: { tenant, id } }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const triggers = useTexts(triggerTexts);
  const navigate = useNavigate();
  const list = useList(
    ["endpoint-attempts", id],
    (page, signal) => api.endpoints.listAttempts({ tenant, endpoint: id, query: page, signal }),
    { watch: { keyOf: attemptKey, everyMs: REFRESH_MS } },
  );
  const columns: readonly Column<EndpointAttempt>[] = [
    {
      key: "result",
      head: t.result,
      cell: ({ delivery_id, status_code, error }) => {
        const isDelivered = status_code !== null && status_code >= 200 && status_code < 300;
        return (
          <Link to="/deliveries/$id" params={{ id: delivery_id }}>
            <Badge tone={isDelivered ? "ok" : "bad"} icon={isDelivered ? "check" : "warning"}>
              {status_code ?? error}
            </Badge>
          </Link>
        );
      },
    },
    { key: "trigger", head: t.trigger, from: "sm", cell: ({ trigger }) => triggers[trigger] },
    {
      key: "took",
      head: t.took,
      isNumber: true,
      cell: ({ duration_ms }) => (duration_ms === null ? "–" : duration(duration_ms)),
    },
    {
      key: "started",
      head: t.started,
      cell: ({ started_at }) => (started_at === null ? "–" : <Ago at={started_at} />),
    },
  ];
  return (
    <Panel
      title={t.attempts}
      isFlush
      actions={
        <Link to="/deliveries" search={{ tenant, endpoint: id }} className={buttonClass()}>
          {t.deliveries}
        </Link>
      }
    >
      <ListView
        label={t.attempts}
        list={list}
        columns={columns}
        keyOf={attemptKey}
        onOpen={({ delivery_id }) => void navigate({ to: "/deliveries/$id", params: { id: delivery_id } })}
        nothingYet={<NothingYet title={t.noAttempts} />}
      />
    </Panel>
  );
}

function attemptKey({ delivery_id, number }: EndpointAttempt): string {
  return `${delivery_id}:${number}`;
}
