// The spans of an event: its publish, each attempt, and the settlement of an attempt. Only ids and outcomes, like
// everything that is observed.
import { formatId } from "@posthorn/wire";
import type { AttemptOutcome, ClaimedDelivery, Event, Settlement } from "../model.ts";
import { outcomeOf } from "./metrics.ts";
import { type Span, spanKinds, type Tracing } from "./tracing.ts";

export class Spans {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** False while spans would not be recorded. */
  get areRecorded(): boolean {
    return this.#tracing.isRecording;
  }

  /** Starts the span of a publish. For a user there are several events, each with its own id and tenant. */
  publishing(event: Event, user?: string): Span {
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

  /** Starts the span of an attempt in the trace of its event. */
  attempting(delivery: ClaimedDelivery): Span {
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

  /** Starts the span from the response to its commit. */
  settling({ delivery, decision, traceparent }: Settlement): Span {
    return this.#tracing.start("posthorn settle", {
      kind: spanKinds.internal,
      parent: traceparent,
      attributes: () => ({
        "posthorn.event.id": formatId("evt", delivery.event.id),
        "posthorn.decision": decision.kind,
      }),
    });
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
