// `posthorn stats`: counts of deliveries, with commands for details.
import type { Stats } from "@posthorn/client";
import { type Command, Option } from "commander";
import { commandsOf, ENDPOINT_FILTER, TENANT_FILTER } from "../remote/remote.ts";
import { facts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, timeText, toned } from "../terminal/text.ts";

interface StatsScope {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly period: "hour" | "day";
}

export function addStats(program: Command, terminal: Terminal): void {
  const period = new Option("--period <period>", "period of the attempts")
    .choices(["hour", "day"])
    .default("hour");
  commandsOf(program, terminal)<StatsScope>(
    "stats",
    "count deliveries by state, and recent attempts by outcome",
    [TENANT_FILTER, ENDPOINT_FILTER, period],
    async ({ client, print }, _args, { tenant, endpoint, period }) => {
      const scope = { tenant, endpoint, period };
      print(await client.stats.get({ query: scope }), (stats) => statsText(terminal, stats, scope));
    },
  );
}

export function statsText(
  terminal: Pick<Terminal, "hasColors">,
  { now, attempts, latency_ms }: Stats,
  scope: StatsScope,
): string {
  const heading = (text: string): string => toned(terminal, "strong", text);
  return [
    heading("Now"),
    facts(terminal, [
      ["pending", countText(now.pending)],
      ["in flight", countText(now.in_flight)],
      ["failed, to be retried", countText(now.failed)],
      ["dead letters", countText(now.dead)],
    ]),
    "",
    heading(`Attempts since ${timeText(attempts.since)} (last ${scope.period})`),
    facts(terminal, [
      ["succeeded", attempts.success],
      ["failed, retried", attempts.failed],
      ["failed for good", attempts.dead],
      ["success rate", rateText(attempts.success_rate)],
      ["latency", latencyText(latency_ms)],
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

function latencyText(latency: Stats["latency_ms"]): string | null {
  if (latency === null) return null;
  const { p50, p95, p99 } = latency;
  return `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms`;
}

function nextSteps(now: Stats["now"], { tenant, endpoint }: StatsScope): string[] {
  const of = [
    ...(tenant === undefined ? [] : [` --tenant ${clean(tenant)}`]),
    ...(endpoint === undefined ? [] : [` --endpoint ${clean(endpoint)}`]),
  ].join("");
  const steps = [
    ...(now.failed.count > 0 ? [`→ Retry queue: posthorn deliveries retry-queue${of}`] : []),
    ...(now.dead.count > 0 ? [`→ Dead letters: posthorn deliveries list --state dead${of}`] : []),
  ];
  return steps.length === 0 ? [] : ["", ...steps];
}
