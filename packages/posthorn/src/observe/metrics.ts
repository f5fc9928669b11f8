// The metrics of a process and gauges of the installation. Each is used on the dashboard or in an alert of deploy/, and
// listed on the reference page.
import { formatId } from "@posthorn/wire";
import type { AttemptOutcome, DeliveryMode, Settlement } from "../model.ts";
import { Metric, type MetricDefinition, type Series } from "./registry.ts";

const statementBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

const counter = (help: string, labels: readonly string[] = []) =>
  ({ type: "counter", help, labels }) as const;
const gauge = (help: string, labels: readonly string[] = []) => ({ type: "gauge", help, labels }) as const;
const histogram = (help: string, buckets: readonly number[], labels: readonly string[] = []) =>
  ({ type: "histogram", help, labels, buckets }) as const;

export const metricDefinitions = {
  webhook_events_published_total: counter("Events stored and fanned out by this process, by source", [
    "source",
  ]),
  webhook_events_rejected_total: counter(
    "Events published from SQL or by a source that this process stored as rejected, by error",
    ["code"],
  ),
  webhook_events_dropped_total: counter(
    "Events that this process stored without the deliveries they would have, because delivery is off",
  ),
  webhook_delivery_off: gauge("1 while this process sends nothing because delivery is off", ["mode"]),
  webhook_delivery_attempts_total: counter("HTTP attempts made by this process, by outcome", [
    "endpoint",
    "outcome",
  ]),
  webhook_delivery_latency_seconds: histogram(
    "Time from the event, or a manual retry, to the successful response, retries included",
    [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 28_800],
    ["endpoint"],
  ),
  webhook_dead_lettered_total: counter(
    "Deliveries that became dead after an attempt by this process, by reason",
    ["endpoint", "reason"],
  ),
  webhook_attempt_seconds: histogram(
    "Duration of one attempt",
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  ),
  webhook_ingest_seconds: histogram(
    "Time to store a batch of events and their deliveries, including the wait for the write loop",
    statementBuckets,
  ),
  webhook_claim_seconds: histogram(
    "Duration of the statement that claims a batch of deliveries",
    statementBuckets,
  ),
  webhook_settle_seconds: histogram("Duration of a statement that only settles deliveries", statementBuckets),
  webhook_attempts_in_flight: gauge("Attempts in flight in this process"),
  webhook_database_errors_total: counter("Failed statements of this process, by kind of failure", ["kind"]),
  webhook_database_pool_waiting: gauge("Statements of this process that wait for a connection"),
  webhook_queue_depth: gauge(
    "Unfinished deliveries of the installation, exact up to 10000 and estimated above",
  ),
  webhook_outbox_depth: gauge("Published events that wait for fan-out, at most 10000"),
  webhook_rejected_events: gauge("Rejected events that nobody has released or discarded, at most 10000"),
  webhook_oldest_undelivered_age_seconds: gauge(
    "Age of the oldest event with an unfinished delivery, including disabled endpoints and scheduled retries",
  ),
  webhook_oldest_due_age_seconds: gauge(
    "How long the most overdue delivery has been due, excluding those held by their own endpoint",
  ),
  webhook_due_deliveries: gauge(
    "Deliveries that wait for nothing but a worker, exact up to a queue of 10000 and estimated above",
  ),
  webhook_overdue_deliveries: gauge("Deliveries that should have been sent more than a minute ago"),
  webhook_waiting_deliveries: gauge("Deliveries that wait, by what they wait for", ["reason"]),
  webhook_workers: gauge("Live workers that deliver"),
  webhook_circuits_open: gauge("Endpoints whose circuit is open or half-open"),
  webhook_endpoints_disabled: gauge("Endpoints disabled after failures and not enabled again"),
  webhook_partitions_ahead: gauge("Daily partitions that every history table has ahead of today"),
  webhook_source_running: gauge("1 if a process follows the source, 0 if it has stopped", ["source"]),
  webhook_source_lag_seconds: gauge(
    "Age of the newest commit in the source's database before which everything is stored",
    ["source"],
  ),
  webhook_source_lag_bytes: gauge("Write-ahead log that the replication slot of the source retains", [
    "source",
  ]),
  webhook_websub_subscriptions: gauge("Active WebSub subscriptions"),
  webhook_websub_requests_total: counter("Requests to the WebSub hub completed by this process, by result", [
    "mode",
    "result",
  ]),
  webhook_websub_fetches_total: counter("Topics of other publishers fetched by this process, by result", [
    "result",
  ]),
} satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricDefinitions;

const installationGaugeNames = [
  "webhook_queue_depth",
  "webhook_outbox_depth",
  "webhook_rejected_events",
  "webhook_oldest_undelivered_age_seconds",
  "webhook_oldest_due_age_seconds",
  "webhook_workers",
  "webhook_circuits_open",
  "webhook_endpoints_disabled",
  "webhook_partitions_ahead",
  "webhook_websub_subscriptions",
] as const satisfies readonly MetricName[];

/** Gauges read from the database; null if it did not respond. */
export type InstallationGauges = Readonly<Record<(typeof installationGaugeNames)[number], number>> & {
  readonly sources: readonly SourceGauges[];
};

/** Unfinished deliveries by what they wait for. */
export interface BacklogGauges {
  readonly due: number;
  readonly overdue: number;
  readonly waiting: Readonly<Record<string, number>>;
}

interface SourceGauges {
  readonly source: string;
  readonly isRunning: boolean;
  /** Null if it is unknown. */
  readonly lagBytes: number | null;
  readonly lagSeconds: number | null;
}

/** Maximum number of endpoints with their own label value: about 8,000 lines with all outcomes and buckets. */
export const maxEndpointLabels = 200;

/** The series of one endpoint, cached: three lookups by text cost more than a microsecond per delivery. */
interface EndpointSeries {
  /** Label values; empty if the label is off. */
  readonly labelValues: readonly string[];
  readonly attempts: Map<string, Series>;
  latency: Series | undefined;
}

export class Metrics {
  readonly #metrics: Readonly<Record<MetricName, Metric>>;
  readonly #attemptSeconds: Series;
  /** Empty if the label is off. */
  readonly #endpoints = new Map<string, EndpointSeries>();
  /** Shared by all endpoints beyond the maximum, so that creating endpoints cannot create unlimited series. */
  readonly #others: EndpointSeries;
  readonly #maxEndpoints: number;

  constructor({ labelsEndpoints }: { readonly labelsEndpoints: boolean }) {
    const entries = Object.entries(metricDefinitions).map(([name, definition]) => [
      name,
      new Metric(name, labelsEndpoints ? definition : withoutEndpoint(definition)),
    ]);
    this.#metrics = Object.fromEntries(entries);
    this.#attemptSeconds = this.#metrics.webhook_attempt_seconds.series();
    this.#maxEndpoints = labelsEndpoints ? maxEndpointLabels : 0;
    this.#others = newSeries(labelsEndpoints ? ["other"] : []);
  }

  #seriesOf(endpointId: string): EndpointSeries {
    const known = this.#endpoints.get(endpointId);
    if (known !== undefined) return known;
    if (this.#endpoints.size >= this.#maxEndpoints) return this.#others;
    const series = newSeries([formatId("ep", endpointId)]);
    this.#endpoints.set(endpointId, series);
    return series;
  }

  published(events: number, source: "direct" | "outbox"): void {
    if (events > 0) this.#metrics.webhook_events_published_total.series(source).add(events);
  }

  dropped(events: number): void {
    this.#metrics.webhook_events_dropped_total.series().add(events);
  }

  attempted({ delivery, outcome }: Settlement): void {
    this.#attemptSeconds.observe(outcome.durationMs / 1_000);
    const { attempts, labelValues } = this.#seriesOf(delivery.endpointId);
    const label = outcomeOf(outcome);
    let series = attempts.get(label);
    if (series === undefined) {
      series = this.#metrics.webhook_delivery_attempts_total.series(...labelValues, label);
      attempts.set(label, series);
    }
    series.add(1);
  }

  /** Called after the settlement was committed. */
  settled({ delivery, decision }: Settlement, nowMs: number): void {
    if (decision.kind === "retry") return;
    const endpoint = this.#seriesOf(delivery.endpointId);
    const { labelValues } = endpoint;
    if (decision.kind === "dead") {
      this.#metrics.webhook_dead_lettered_total.series(...labelValues, decision.reason).add(1);
      return;
    }
    endpoint.latency ??= this.#metrics.webhook_delivery_latency_seconds.series(...labelValues);
    endpoint.latency.observe(Math.max(0, nowMs - delivery.scheduleStartedMs) / 1_000);
  }

  statementTook(stage: "ingest" | "claim" | "settle", ms: number): void {
    this.#metrics[`webhook_${stage}_seconds`].series().observe(ms / 1_000);
  }

  count(counter: MetricName, ...labelValues: readonly string[]): void {
    this.#metrics[counter].series(...labelValues).add(1);
  }

  text(
    now: { readonly inFlight: number; readonly poolWaiting: number; readonly mode: DeliveryMode },
    installation: InstallationGauges | null,
    backlog: BacklogGauges | null = null,
  ): string {
    this.#metrics.webhook_attempts_in_flight.set(now.inFlight);
    this.#metrics.webhook_database_pool_waiting.set(now.poolWaiting);
    for (const mode of ["hold", "drop"])
      this.#metrics.webhook_delivery_off.series(mode).value = now.mode === mode ? 1 : 0;
    for (const name of installationGaugeNames) this.#metrics[name].set(installation?.[name] ?? null);
    this.#metrics.webhook_due_deliveries.set(backlog?.due ?? null);
    this.#metrics.webhook_overdue_deliveries.set(backlog?.overdue ?? null);
    const waiting = this.#metrics.webhook_waiting_deliveries;
    waiting.set(null);
    for (const [reason, count] of Object.entries(backlog?.waiting ?? {}))
      waiting.series(reason).value = count;
    this.#setSources(installation?.sources ?? []);
    return Object.values(this.#metrics)
      .map((metric) => metric.text())
      .join("");
  }

  #setSources(sources: readonly SourceGauges[]): void {
    const { webhook_source_running, webhook_source_lag_bytes, webhook_source_lag_seconds } = this.#metrics;
    for (const metric of [webhook_source_running, webhook_source_lag_bytes, webhook_source_lag_seconds])
      metric.set(null);
    for (const { source, isRunning, lagBytes, lagSeconds } of sources) {
      webhook_source_running.series(source).value = isRunning ? 1 : 0;
      if (lagBytes !== null) webhook_source_lag_bytes.series(source).value = lagBytes;
      if (lagSeconds !== null) webhook_source_lag_seconds.series(source).value = lagSeconds;
    }
  }
}

function newSeries(labelValues: readonly string[]): EndpointSeries {
  return { labelValues, attempts: new Map(), latency: undefined };
}

function withoutEndpoint(definition: MetricDefinition): MetricDefinition {
  return { ...definition, labels: definition.labels.filter((label) => label !== "endpoint") };
}

/** Returns `success`, a class of statuses, or the error: at most seventeen values. */
export function outcomeOf(outcome: AttemptOutcome): string {
  if (outcome.kind === "failed") return outcome.error;
  const hundreds = Math.floor(outcome.statusCode / 100);
  return hundreds === 2 ? "success" : `http_${hundreds}xx`;
}
