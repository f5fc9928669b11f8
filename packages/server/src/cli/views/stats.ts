// Terminal output of the delivery statistics, with commands for details.
import type { Stats } from "@posthorn/client";
import { facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText, toned } from "../terminal/text.ts";

export interface StatsScope {
  readonly tenant?: string;
  readonly endpoint?: string;
  readonly period: "hour" | "day";
}

export function statsText(
  terminal: Pick<Terminal, "hasColors">,
  { now, ended }: Stats,
  scope: StatsScope,
): string {
  const heading = (text: string): string => toned(terminal, "strong", text);
  return [
    heading("Now"),
    facts(terminal, [
      ["to be sent", countText(now.pending)],
      ["being sent", countText(now.in_flight)],
      ["to be tried again", countText(now.failed)],
      ["dead letters", countText(now.dead)],
    ]),
    "",
    heading(`Ended, of the events since ${timeText(ended.since)} (the last ${scope.period})`),
    facts(terminal, [
      ["delivered", countText(ended.success)],
      ["dead", countText(ended.dead)],
      ["success rate", rateText(ended.success_rate)],
      ["time to success", latencyText(ended.latency_ms)],
    ]),
    ...nextSteps(now, scope),
  ].join("\n");
}

type Count = Stats["now"]["dead"];

function countText({ count, is_exact }: Count): string {
  return is_exact ? String(count) : `at least ${count}`;
}

/** Rounded down, so that 100 % means all. */
function rateText(rate: number | null): string | null {
  return rate === null ? null : `${(Math.floor(rate * 1_000) / 10).toFixed(1)} %`;
}

function latencyText(latency: Stats["ended"]["latency_ms"]): string | null {
  if (latency === null) return null;
  const { p50, p95, p99 } = latency;
  return `half within ${p50} ms, 95 % within ${p95} ms, 99 % within ${p99} ms`;
}

function nextSteps(now: Stats["now"], { tenant, endpoint }: StatsScope): string[] {
  const of = [
    ...(tenant === undefined ? [] : [` --tenant ${clean(tenant)}`]),
    ...(endpoint === undefined ? [] : [` --endpoint ${clean(endpoint)}`]),
  ].join("");
  const steps = [
    ...(now.failed.count > 0
      ? [`→ What is tried again, and when: posthorn deliveries retry-queue${of}`]
      : []),
    ...(now.dead.count > 0 ? [`→ The dead letters: posthorn deliveries list --state dead${of}`] : []),
  ];
  return steps.length === 0 ? [] : ["", ...steps];
}
