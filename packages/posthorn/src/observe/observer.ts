// Reports each event and attempt to metrics, log and traces. Only ids and outcomes, never payloads, URLs, headers or
// response bodies.
import { formatId } from "@posthorn/wire";
import type { Event, Rejection, Settlement } from "../model.ts";
import type { Logger } from "./log.ts";
import { type Metrics, outcomeOf } from "./metrics.ts";
import { Spans } from "./spans.ts";
import { loadTracing } from "./tracing.ts";

export interface ObserverOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

export class Observer {
  readonly metrics: Metrics;
  /** Null if the application has no OpenTelemetry. */
  #spans: Spans | null = null;
  /** Undefined once it is known whether OpenTelemetry is available. */
  loading: Promise<void> | undefined;
  readonly #logger: Logger;
  readonly #nowMs: () => number;

  constructor({ metrics, logger, nowMs }: ObserverOptions) {
    this.metrics = metrics;
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  loadTracing(): void {
    this.loading = loadTracing(this.#logger).then((tracing) => {
      this.#spans = tracing === null ? null : new Spans(tracing);
      this.loading = undefined;
    });
  }

  /** Null unless spans are recorded. */
  get spans(): Spans | null {
    return this.#spans?.areRecorded ? this.#spans : null;
  }

  /** Called after a statement that began at this monotonic time. */
  statementTook(stage: "ingest" | "claim" | "settle", startedAt: number): void {
    this.metrics.statementTook(stage, performance.now() - startedAt);
  }

  /** Called when the event and its deliveries are stored. */
  published(
    events: readonly Event[],
    source: "direct" | "outbox",
    deliveriesOf: (event: Event) => number,
  ): void {
    this.metrics.published(events.length, source);
    // thousands per second, so only at debug level
    if (this.#logger.isDebug === false) return;
    for (const event of events) {
      this.#logger.debug("published", {
        eventId: formatId("evt", event.id),
        tenant: event.tenant,
        type: event.type,
        deliveries: deliveriesOf(event),
      });
    }
  }

  /** Called when an event was stored as rejected. */
  rejected({ eventId, code, pointer, message }: Rejection): void {
    this.metrics.count("webhook_events_rejected_total", code);
    this.#logger.warn("event rejected", { eventId: formatId("evt", eventId), code, pointer, message });
  }

  /** Called after the attempt; `settled` follows when it is recorded. */
  attempted(settlement: Settlement): void {
    this.metrics.attempted(settlement);
    const { decision } = settlement;
    if (decision.kind === "dead") this.#logger.warn("delivery is dead", attemptFields(settlement));
    else if (decision.kind === "retry") this.#logger.info("attempt failed", attemptFields(settlement));
    else if (this.#logger.isDebug !== false) this.#logger.debug("delivered", attemptFields(settlement));
  }

  settled(settlement: Settlement): void {
    this.metrics.settled(settlement, this.#nowMs());
  }
}

function attemptFields({ delivery, outcome, decision }: Settlement): Record<string, unknown> {
  return {
    eventId: formatId("evt", delivery.event.id),
    deliveryId: formatId("dlv", delivery.id),
    endpointId: formatId("ep", delivery.endpointId),
    tenant: delivery.event.tenant,
    attempt: delivery.attempts + 1,
    trigger: delivery.trigger,
    outcome: outcomeOf(outcome),
    ...(outcome.kind === "responded" && { statusCode: outcome.statusCode }),
    durationMs: Math.round(outcome.durationMs),
    ...(decision.kind === "retry" && { retryInMs: Math.round(decision.delayMs) }),
    ...(decision.kind === "dead" && { reason: decision.reason }),
  };
}
