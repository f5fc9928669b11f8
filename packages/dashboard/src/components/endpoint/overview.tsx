// How an endpoint does: its state in words, its attempts over time, and the last of them one by one.
import type { Endpoint, EndpointAttempt } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanations, lastErrorKey, triggerTexts } from "../../format/delivery-words.ts";
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
import { HowItIsSent } from "./how-it-is-sent.tsx";

const texts = defineTexts({
  en: {
    gone: "It answered 410 Gone, so it was disabled. What is for it is kept.",
    failures: "It failed too often in a row, so it was disabled. What is for it is kept.",
    no_success: "Nothing reached it for days, so it was disabled. What is for it is kept.",
    manual: "Somebody switched it off. What is for it is kept.",
    open: "It failed too often: nothing is sent for a while.",
    probe: "One is tried in",
    half_open: "It is being tried again, a few at a time.",
    throttled: "It asked for a pause. It is sent to again in",
    failing: (count: number) =>
      count === 1 ? "It failed the last time." : `It failed ${count} times in a row.`,
    last: "Last error",
    since: "It began",
    topic: "WebSub topic",
    lease: "Subscribed until",
    leaseHint:
      "Its subscriber renews it, or lets it end. It is changed by nobody else; who deletes it ends it.",
    events: "Events",
    retries: "Retries",
    made: "Made",
    changed: "Changed",
    attempts: "Attempts",
    deliveries: "All its deliveries",
    result: "Result",
    took: "Took",
    trigger: "Why",
    started: "Began",
    noAttempts: "Nothing was sent to it yet",
  },
  de: {
    gone: "Er antwortete 410 Gone und wurde abgeschaltet. Was für ihn ist, wird aufgehoben.",
    failures: "Er scheiterte zu oft in Folge und wurde abgeschaltet. Was für ihn ist, wird aufgehoben.",
    no_success:
      "Tagelang kam nichts bei ihm an, darum wurde er abgeschaltet. Was für ihn ist, wird aufgehoben.",
    manual: "Jemand hat ihn abgeschaltet. Was für ihn ist, wird aufgehoben.",
    open: "Er scheiterte zu oft: eine Weile wird nichts gesendet.",
    probe: "Einer wird versucht in",
    half_open: "Er wird wieder versucht, mit wenigen auf einmal.",
    throttled: "Er bat um eine Pause. Gesendet wird wieder in",
    failing: (count: number) =>
      count === 1 ? "Zuletzt ist er gescheitert." : `Er ist ${count}-mal in Folge gescheitert.`,
    last: "Letzter Fehler",
    since: "Es begann",
    topic: "WebSub-Thema",
    lease: "Abonniert bis",
    leaseHint:
      "Der Abonnent erneuert es oder lässt es enden. Sonst ändert es niemand; wer es löscht, beendet es.",
    events: "Ereignisse",
    retries: "Neue Versuche",
    made: "Angelegt",
    changed: "Geändert",
    attempts: "Versuche",
    deliveries: "Alle seine Zustellungen",
    result: "Ergebnis",
    took: "Dauer",
    trigger: "Warum",
    started: "Begann",
    noAttempts: "Noch wurde nichts an ihn gesendet",
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
            <HowItIsSent endpoint={endpoint} />
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
  const words = useTexts(explanations);
  const language = useLanguage();
  const { is_active, disabled_reason, disabled_at, circuit, health } = endpoint;
  const told: ReactNode[] = [];
  if (!is_active) told.push(t[disabled_reason as "manual"] ?? disabled_reason);
  else if (circuit !== "closed") told.push(t[circuit]);
  if (health.probe_at !== null)
    told.push(
      <>
        {t.probe} <Countdown until={health.probe_at} />
      </>,
    );
  if (health.throttled_until !== null)
    told.push(
      <>
        {t.throttled} <Countdown until={health.throttled_until} />
      </>,
    );
  if (health.consecutive_failures > 0) told.push(t.failing(health.consecutive_failures));
  if (told.length === 0) return null;
  const lastError =
    health.last_error === null ? null : explain(words, lastErrorKey(health.last_error), language);
  const since = disabled_at ?? health.failing_since;
  return (
    <div
      role="note"
      className="flex flex-col gap-1 rounded-lg border border-line bg-warn-ground p-4 text-warn"
    >
      {told.map((sentence, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they do not move
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
