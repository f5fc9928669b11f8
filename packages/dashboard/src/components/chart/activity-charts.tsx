// Charts of attempts and their duration over time.
import type { Activity } from "@posthorn/client";
import { useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { stateTexts } from "../../format/delivery-texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";
import { Select } from "../ui/field.tsx";
import { Panel } from "../ui/page.tsx";
import { Chart, type Series } from "./chart.tsx";

const t = defineTexts({
  times: ["Attempt duration", "Dauer der Versuche"],
  period: ["Period", "Zeitraum"],
  hour: ["Last hour", "Letzte Stunde"],
  day: ["Last 24 hours", "Letzte 24 Stunden"],
  month: ["Last 30 days", "Letzte 30 Tage"],
});

const COUNTS: readonly Series[] = [
  { field: "success", name: () => stateTexts.success, colour: "ok", isFilled: true },
  { field: "failed", name: () => stateTexts.failed, colour: "warn" },
  { field: "dead", name: () => stateTexts.dead, colour: "bad" },
];
const LATENCIES: readonly Series[] = [
  { field: "p50", name: () => "p50", colour: "ok" },
  { field: "p95", name: () => "p95", colour: "warn" },
  { field: "p99", name: () => "p99", colour: "bad" },
];

export function ActivityCharts({ activity: { points } }: { readonly activity: Activity }) {
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Panel>
        <Chart title={t.attempts} points={points} series={COUNTS} format={whole} />
      </Panel>
      <Panel>
        <Chart title={t.times} points={points} series={LATENCIES} format={duration} />
      </Panel>
    </div>
  );
}

type Period = Activity["period"];
const PERIODS: readonly Period[] = ["hour", "day", "month"];

/** The period of the charts, and the field that changes it. */
export function usePeriod(initial: Period) {
  const [period, setPeriod] = useState(initial);
  const periodChoice = (
    <Select
      aria-label={t.period}
      options={PERIODS.map((name) => [name, t[name]])}
      value={period}
      onChange={(event) => setPeriod(event.target.value as Period)}
    />
  );
  return { period, periodChoice };
}
