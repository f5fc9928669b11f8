// The overview: rates, latency, backlog and failing endpoints.
import type { Activity, System } from "@posthorn/client";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useHasPublished } from "../api/first-run.ts";
import { useApi } from "../api/use-api.ts";
import { defineTexts } from "../app/texts.ts";
import { BacklogParts, backlogNote } from "../components/backlog/backlog-parts.tsx";
import { ActivityCharts, usePeriod } from "../components/chart/activity-charts.tsx";
import { successRateText, toneOfSuccessRate } from "../components/chart/success-rate.tsx";
import { Badge, type Tone } from "../components/ui/badge.tsx";
import { buttonClass } from "../components/ui/button.tsx";
import { EndpointLink } from "../components/ui/links.tsx";
import { Failed, Loading, Page, Panel } from "../components/ui/page.tsx";
import { Ago } from "../components/ui/time.tsx";
import { explain, lastErrorKey } from "../format/delivery-texts.ts";
import { rate, whole } from "../format/number.ts";
import { duration } from "../format/time.ts";

const t = defineTexts({
  rate: ["Attempts per second", "Versuche pro Sekunde"],
  latency: ["Latency p95", "Latenz p95"],
  latencyNote: (p50: string, p99: string) => `p50 ${p50}, p99 ${p99}`,
  workers: ["Active workers", "Aktive Worker"],
  noWorkers: ["no deliveries are sent", "es wird nichts zugestellt"],
  failing: ["Failing endpoints", "Endpunkte mit Fehlern"],
  noneFailing: ["No failing endpoints.", "Keine Endpunkte mit Fehlern."],
  circuits: ["Open circuits", "Offene Circuit Breaker"],
  noCircuits: ["No open circuits.", "Keine offenen Circuit Breaker."],
  failures: ["{count} {count|failure|consecutive failures}", "{count} Fehler{count|| in Folge}"],
  none: ["no data yet", "noch keine Daten"],
  nothingSent: ["No event has been published yet.", "Es wurde noch kein Ereignis veröffentlicht."],
  begin: ["Get started", "Erste Schritte"],
});

const REFRESHED = { refetchInterval: 5_000 };

export function Overview() {
  const { period, periodChoice } = usePeriod("hour");
  const activity = useApi(
    "activity.get",
    { query: { period } },
    // keeps showing the previous period while another one loads
    { placeholderData: keepPreviousData, ...REFRESHED },
  );
  const system = useApi("system.get", {}, REFRESHED);
  const { data: stats } = useApi("stats.get", {}, REFRESHED);
  const hasPublished = useHasPublished();
  const error = activity.error ?? system.error;
  if (activity.data === undefined || system.data === undefined) {
    if (error === null) return <Loading />;
    return <Failed error={error} onRetry={() => void Promise.all([activity.refetch(), system.refetch()])} />;
  }
  return (
    <Page title={t.overview} actions={periodChoice}>
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
      <Panel title={t.backlog}>
        <BacklogParts backlog={system.data.backlog} />
      </Panel>
      <div className="grid gap-4 lg:grid-cols-2">
        <Trouble title={t.failing} nothing={t.noneFailing} endpoints={system.data.failing_endpoints.data} />
        <Trouble title={t.circuits} nothing={t.noCircuits} endpoints={system.data.open_circuits.data} />
      </div>
    </Page>
  );
}

function Figures({
  activity,
  system,
  dead,
}: {
  readonly activity: Activity;
  readonly system: System;
  readonly dead: number | undefined;
}) {
  const { success, failed, dead: deadCount, success_rate, p50, p95, p99 } = activity.total;
  const seconds = activity.points.length * activity.step_seconds;
  const alive = system.workers.data.filter(({ is_alive, delivers }) => is_alive && delivers).length;
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      <Figure name={t.rate} value={rate((success + failed + deadCount) / seconds)} />
      <Figure
        name={t.successRate}
        tone={toneOfSuccessRate(success_rate)}
        value={successRateText(success_rate)}
      />
      <Figure
        name={t.latency}
        value={p95 === null ? "–" : duration(p95)}
        note={p50 === null || p99 === null ? t.none : t.latencyNote(duration(p50), duration(p99))}
      />
      <Figure
        name={t.backlog}
        value={whole(system.backlog.count)}
        tone={system.backlog.overdue > 0 ? "warn" : "plain"}
        note={backlogNote(system.backlog)}
        to="/system"
      />
      <Figure
        name={t.deadLetters}
        value={dead === undefined ? "–" : whole(dead)}
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
  return (
    <Panel title={title}>
      {endpoints.length === 0 && <p className="text-muted">{nothing}</p>}
      <ul className="flex flex-col gap-3">
        {endpoints.map(({ endpoint_id, tenant, since, reason, consecutive_failures }) => (
          <li key={endpoint_id} className="flex flex-col gap-0.5">
            <div className="flex items-baseline gap-2">
              <EndpointLink tenant={tenant} id={endpoint_id} className="min-w-0 truncate underline" />
              <span className="truncate text-muted">{tenant}</span>
              {since !== null && (
                <span className="ml-auto text-muted">
                  <Ago at={since} />
                </span>
              )}
            </div>
            <div className="flex flex-wrap items-center gap-2 text-sm">
              <Badge tone="bad" icon="warning">
                {t.failures({ count: consecutive_failures })}
              </Badge>
              {reason !== null && <span>{explain(lastErrorKey(reason)).what}</span>}
              {reason !== null && <code className="font-mono text-xs text-muted">{reason}</code>}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const TONES: Record<Tone, string> = {
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  calm: "text-calm",
  plain: "text-ink",
};

function Figure({
  name,
  value,
  note,
  tone = "plain",
  to,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: Tone;
  readonly to?: string;
}) {
  const content = (
    <>
      <span className="text-xs text-muted">{name}</span>
      <span className={`text-xl font-semibold tabular-nums ${TONES[tone]}`}>{value}</span>
      {note !== undefined && <span className="text-xs text-muted">{note}</span>}
    </>
  );
  const look = "flex flex-col gap-0.5 rounded-lg border border-line bg-surface p-3";
  if (to === undefined) return <div className={look}>{content}</div>;
  return (
    <Link to={to} className={`${look} hover:bg-raised`}>
      {content}
    </Link>
  );
}
