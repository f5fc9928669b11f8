// What is said of each event and attempt as it passes: a number for the metrics, a line for the log. Lines carry ids and
// outcomes, never payloads, URLs, headers or what a receiver answered.
import { formatId } from "@posthorn/wire";
import type { Event, Settlement } from "../model.ts";
import type { Logger } from "./log.ts";
import { type Metrics, outcomeOf } from "./metrics.ts";

export interface ObserverOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

export class Observer {
  readonly metrics: Metrics;
  readonly #logger: Logger;
  readonly #nowMs: () => number;

  constructor({ metrics, logger, nowMs }: ObserverOptions) {
    this.metrics = metrics;
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Stored, and its deliveries with it. */
  published(
    events: readonly Event[],
    source: "direct" | "outbox",
    deliveriesOf: (event: Event) => number,
  ): void {
    this.metrics.published(events.length, source);
    // thousands a second, so only for those who ask for them
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

  /** It is answered, or was not; whether that could be written down is told by `settled`. */
  attempted(settlement: Settlement): void {
    this.metrics.attempted(settlement);
    const { decision } = settlement;
    if (decision.kind === "dead") this.#logger.warn("gave up a delivery", attemptFields(settlement));
    else if (decision.kind === "retry") this.#logger.info("an attempt failed", attemptFields(settlement));
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
    ...(outcome.kind === "answered" && { statusCode: outcome.statusCode }),
    durationMs: Math.round(outcome.durationMs),
    ...(decision.kind === "retry" && { retryInMs: Math.round(decision.delayMs) }),
    ...(decision.kind === "dead" && { reason: decision.reason }),
  };
}
