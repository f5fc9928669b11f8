// Charts of attempts and their duration over time.
import type { Activity } from "@posthorn/client";
import { useCallback, useMemo } from "react";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";
import { Panel } from "../ui/panel.tsx";
import { Chart } from "./chart.tsx";

const texts = defineTexts({
  en: {
    attempts: "Attempts",
    delivered: "delivered",
    failed: "will retry",
    gaveUp: "dead",
    times: "Attempt duration",
    period: "Period",
    hour: "Last hour",
    day: "Last 24 hours",
    month: "Last 30 days",
  },
  de: {
    attempts: "Versuche",
    delivered: "zugestellt",
    failed: "neuer Versuch",
    gaveUp: "fehlgeschlagen",
    times: "Dauer der Versuche",
    period: "Zeitraum",
    hour: "Letzte Stunde",
    day: "Letzte 24 Stunden",
    month: "Letzte 30 Tage",
  },
});

export function ActivityCharts({ activity }: { readonly activity: Activity }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const times = useMemo(() => activity.points.map(({ at }) => at), [activity]);
  const counts = useMemo(
    () =>
      [
        {
          name: t.delivered,
          colour: "ok",
          values: activity.points.map(({ success }) => success),
          isFilled: true,
        },
        { name: t.failed, colour: "warn", values: activity.points.map(({ failed }) => failed) },
        { name: t.gaveUp, colour: "bad", values: activity.points.map(({ dead }) => dead) },
      ] as const,
    [activity, t],
  );
  const latencies = useMemo(
    () =>
      [
        { name: "p50", colour: "ok", values: activity.points.map(({ p50 }) => p50) },
        { name: "p95", colour: "warn", values: activity.points.map(({ p95 }) => p95) },
        { name: "p99", colour: "bad", values: activity.points.map(({ p99 }) => p99) },
      ] as const,
    [activity],
  );
  const count = useCallback((value: number) => whole(value, language), [language]);
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Panel>
        <Chart title={t.attempts} times={times} series={counts} format={count} />
      </Panel>
      <Panel>
        <Chart title={t.times} times={times} series={latencies} format={duration} />
      </Panel>
    </div>
  );
}

export type Period = Activity["period"];
const PERIODS: readonly Period[] = ["hour", "day", "month"];

/** Selects the period of the charts. */
export function PeriodChoice({
  value,
  onChange,
}: {
  readonly value: Period;
  readonly onChange: (period: Period) => void;
}) {
  const t = useTexts(texts);
  return (
    <select
      aria-label={t.period}
      value={value}
      onChange={(event) => onChange(event.target.value as Period)}
      className="rounded-md border border-line bg-surface px-2 py-1.5"
    >
      {PERIODS.map((period) => (
        <option key={period} value={period}>
          {t[period]}
        </option>
      ))}
    </select>
  );
}
