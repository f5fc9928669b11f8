// The overview: rates, latency, backlog and failing endpoints.
import type { Activity, System } from "@posthorn/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useHasPublished } from "../api/published.ts";
import { defineTexts, useLanguage, useTexts } from "../app/texts.ts";
import { ActivityCharts, type Period, PeriodChoice } from "../components/chart/activity-charts.tsx";
import { EndpointName } from "../components/endpoint/endpoint-name.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { buttonClass } from "../components/ui/button.tsx";
import { Figure } from "../components/ui/figure.tsx";
import { Page, Panel } from "../components/ui/panel.tsx";
import { Failed, Loading } from "../components/ui/states.tsx";
import { Ago } from "../components/ui/time.tsx";
import { explain, lastErrorKey } from "../format/delivery-texts.ts";
import { rate, share, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";

const texts = defineTexts({
  en: {
    title: "Overview",
    rate: "Attempts per second",
    success: "Success rate",
    latency: "Latency p95",
    latencyNote: (p50: string, p99: string) => `p50 ${p50}, p99 ${p99}`,
    owed: "Backlog",
    oldest: (age: string) => `oldest overdue by ${age}`,
    nothingDue: "none overdue",
    workers: "Active workers",
    noWorkers: "deliveries are stopped",
    dead: "Dead letters",
    failing: "Failing endpoints",
    noneFailing: "No failing endpoints.",
    circuits: "Open circuits",
    noCircuits: "No open circuits.",
    failures: (count: number) => (count === 1 ? "1 failure" : `${count} consecutive failures`),
    none: "no data yet",
    nothingSent: "No event has been published yet.",
    begin: "Get started",
  },
  de: {
    title: "Überblick",
    rate: "Versuche pro Sekunde",
    success: "Erfolgsquote",
    latency: "Latenz p95",
    latencyNote: (p50: string, p99: string) => `p50 ${p50}, p99 ${p99}`,
    owed: "Rückstand",
    oldest: (age: string) => `älteste überfällig seit ${age}`,
    nothingDue: "nichts überfällig",
    workers: "Aktive Worker",
    noWorkers: "keine Zustellungen",
    dead: "Dead Letters",
    failing: "Endpunkte mit Fehlern",
    noneFailing: "Keine Endpunkte mit Fehlern.",
    circuits: "Offene Circuits",
    noCircuits: "Keine offenen Circuits.",
    failures: (count: number) => (count === 1 ? "1 Fehler" : `${count} Fehler in Folge`),
    none: "noch keine Daten",
    nothingSent: "Es wurde noch kein Ereignis veröffentlicht.",
    begin: "Erste Schritte",
  },
});

const REFRESH_MS = 5_000;

export function Overview() {
  const t = useTexts(texts);
  const [period, setPeriod] = useState<Period>("hour");
  const activity = useQuery({
    queryKey: ["activity", period],
    queryFn: ({ signal }) => api.activity.get({ query: { period }, signal }),
    // keeps showing the previous period while another one loads
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const system = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => api.system.get({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const { data: stats } = useQuery({
    queryKey: ["stats"],
    queryFn: ({ signal }) => api.stats.get({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const hasPublished = useHasPublished();
  const error = activity.error ?? system.error;
  if (activity.data === undefined || system.data === undefined) {
    if (error === null) return <Loading />;
    return <Failed error={error} onRetry={() => void Promise.all([activity.refetch(), system.refetch()])} />;
  }
  return (
    <Page title={t.title} actions={<PeriodChoice value={period} onChange={setPeriod} />}>
      {hasPublished === false && (
        <div className="flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-calm-ground p-4 text-calm">
          <p className="font-semibold">{t.nothingSent}</p>
          <Link to="/first-run" className={buttonClass("primary")}>
            {t.begin}
          </Link>
        </div>
      )}
      <Figures activity={activity.data} system={system.data} dead={stats?.now.dead.count} />
      <ActivityCharts activity={activity.data} />
      <div className="grid gap-4 lg:grid-cols-2">
        <Trouble title={t.failing} nothing={t.noneFailing} endpoints={system.data.failing_endpoints.data} />
        <Trouble title={t.circuits} nothing={t.noCircuits} endpoints={system.data.open_circuits.data} />
      </div>
    </Page>
  );
}

const SHARES = { good: 0.99, poor: 0.9 } as const;
const LATE_MS = 60_000;

function Figures({
  activity,
  system,
  dead,
}: {
  readonly activity: Activity;
  readonly system: System;
  readonly dead: number | undefined;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { success, failed, dead: deadCount, success_share, p50, p95, p99 } = activity.total;
  const seconds = activity.points.length * activity.step_seconds;
  const alive = system.workers.data.filter(({ is_alive, delivers }) => is_alive && delivers).length;
  const lateMs = system.owed.oldest_due_age_seconds * 1_000;
  const tone =
    success_share === null
      ? "plain"
      : success_share >= SHARES.good
        ? "ok"
        : success_share >= SHARES.poor
          ? "warn"
          : "bad";
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      <Figure name={t.rate} value={rate((success + failed + deadCount) / seconds, language)} />
      <Figure
        name={t.success}
        tone={tone}
        value={success_share === null ? "–" : share(success_share, language)}
      />
      <Figure
        name={t.latency}
        value={p95 === null ? "–" : duration(p95)}
        note={p50 === null || p99 === null ? t.none : t.latencyNote(duration(p50), duration(p99))}
      />
      <Figure
        name={t.owed}
        value={whole(system.owed.count, language)}
        tone={lateMs > LATE_MS ? "warn" : "plain"}
        note={lateMs === 0 ? t.nothingDue : t.oldest(duration(lateMs))}
        to="/retry-queue"
      />
      <Figure
        name={t.dead}
        value={dead === undefined ? "–" : whole(dead, language)}
        tone={dead ? "bad" : "plain"}
        to="/dead-letters"
      />
      <Figure
        name={t.workers}
        value={alive}
        tone={alive === 0 ? "bad" : "plain"}
        {...(alive === 0 && { note: t.noWorkers })}
        to="/system"
      />
    </div>
  );
}

function Trouble({
  title,
  nothing,
  endpoints,
}: {
  readonly title: string;
  readonly nothing: string;
  readonly endpoints: System["failing_endpoints"]["data"];
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  return (
    <Panel title={title}>
      {endpoints.length === 0 && <p className="text-muted">{nothing}</p>}
      <ul className="flex flex-col gap-3">
        {endpoints.map(({ endpoint_id, tenant, since, reason, consecutive_failures }) => (
          <li key={endpoint_id} className="flex flex-col gap-0.5">
            <div className="flex items-baseline gap-2">
              <Link
                to="/tenants/$tenant/endpoints/$id"
                params={{ tenant, id: endpoint_id }}
                className="min-w-0 truncate underline"
              >
                <EndpointName tenant={tenant} id={endpoint_id} />
              </Link>
              <span className="truncate text-muted">{tenant}</span>
              {since !== null && (
                <span className="ml-auto text-muted">
                  <Ago at={since} />
                </span>
              )}
            </div>
            <div className="flex flex-wrap items-center gap-2 text-sm">
              <Badge tone="bad" icon="warning">
                {t.failures(consecutive_failures)}
              </Badge>
              {reason !== null && <span>{explain(lastErrorKey(reason), language).what}</span>}
              {reason !== null && <code className="font-mono text-xs text-muted">{reason}</code>}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
