// Reports each event and attempt to metrics, log and traces. Only ids and outcomes, never payloads, URLs, headers or
// response bodies.
import { formatId } from "@posthorn/wire";
import type { AttemptOutcome, ClaimedDelivery, Event, Settlement } from "../model.ts";
import type { Logger } from "./log.ts";
import { type Metrics, outcomeOf } from "./metrics.ts";
import { loadTracing, type Span, spanKinds, type Tracing } from "./tracing.ts";

export interface ObserverOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

export class Observer {
  readonly metrics: Metrics;
  /** Null if the application has no OpenTelemetry. */
  #tracing: Tracing | null = null;
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
      this.#tracing = tracing;
      this.loading = undefined;
    });
  }

  /** Whether spans of attempts are recorded. */
  get isTracing(): boolean {
    return this.#tracing?.isRecording === true;
  }

  /**
   * Starts the span of a publish; null without tracing. For a user there are several events, each with its own id and
   * tenant.
   */
  publishing(event: Event, user?: string): Span | null {
    if (!this.#tracing?.isRecording) return null;
    return this.#tracing.start("posthorn publish", {
      kind: spanKinds.producer,
      parent: event.traceparent,
      joinsActive: true,
      attributes: () =>
        user === undefined
          ? eventAttributes(event)
          : { "messaging.system": "posthorn", "posthorn.event.type": event.type, "posthorn.user": user },
    });
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

  /** Starts the span of an attempt in the trace of its event; null without tracing. */
  attempting(delivery: ClaimedDelivery): Span | null {
    if (!this.#tracing?.isRecording) return null;
    return this.#tracing.start("posthorn attempt", {
      kind: spanKinds.client,
      parent: delivery.event.traceparent,
      attributes: () => ({
        ...eventAttributes(delivery.event),
        "posthorn.delivery.id": formatId("dlv", delivery.id),
        "posthorn.endpoint.id": formatId("ep", delivery.endpointId),
        "posthorn.attempt": delivery.attempts + 1,
      }),
    });
  }

  /** Called after the attempt; `settled` follows when it is recorded. */
  attempted(settlement: Settlement): void {
    this.metrics.attempted(settlement);
    const { decision } = settlement;
    if (decision.kind === "dead") this.#logger.warn("delivery is dead", attemptFields(settlement));
    else if (decision.kind === "retry") this.#logger.info("attempt failed", attemptFields(settlement));
    else if (this.#logger.isDebug !== false) this.#logger.debug("delivered", attemptFields(settlement));
  }

  /** Starts the span from the response to its commit; null without tracing. */
  settling({ delivery, decision, traceparent }: Settlement): Span | null {
    if (!this.#tracing?.isRecording) return null;
    return this.#tracing.start("posthorn settle", {
      kind: spanKinds.internal,
      parent: traceparent,
      attributes: () => ({
        "posthorn.event.id": formatId("evt", delivery.event.id),
        "posthorn.decision": decision.kind,
      }),
    });
  }

  settled(settlement: Settlement): void {
    this.metrics.settled(settlement, this.#nowMs());
  }
}

export function endAttempt(span: Span, outcome: AttemptOutcome): void {
  const label = outcomeOf(outcome);
  const status = outcome.kind === "responded" ? { "http.response.status_code": outcome.statusCode } : {};
  span.end({ "posthorn.outcome": label, ...status }, label === "success" ? undefined : label);
}

function eventAttributes(event: Event): Record<string, string> {
  return {
    "messaging.system": "posthorn",
    "posthorn.event.id": formatId("evt", event.id),
    "posthorn.event.type": event.type,
    "posthorn.tenant": event.tenant,
  };
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
