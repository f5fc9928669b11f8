// Plans which endpoint receives which event.
import type { BatchEncoding } from "../formats/format.ts";
import { batchEncodingOf } from "../formats/formats.ts";
import type { ClaimedDelivery, Event, Target } from "../model.ts";
import { type CollectedEvent, claim, type QueuedDelivery } from "../storage/queries/events/ingest.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import type { FanOutBatch } from "./fan-out.ts";
import { type FilterFacts, failedCondition, readFacts } from "./filter.ts";
import { isAbout } from "./matches.ts";
import type { Routes } from "./routes.ts";

/** One record from plan to settlement: it becomes the claimed delivery. */
export interface Planned extends ClaimedDelivery, QueuedDelivery {
  /** Gets its sequence when it is stored. */
  event: Event;
  readonly target: Target;
  claim: QueuedDelivery["claim"];
  /** This worker does not own the lane. */
  isForeign: boolean;
  /** The connected worker that owns the foreign lane, and gets the delivery if the batch is plain. */
  owner: number | null;
}

export interface Collected extends CollectedEvent {
  readonly target: Target;
}

export interface Plan {
  readonly deliveries: readonly Planned[];
  /** Events that wait for a batch. */
  readonly collected: readonly Collected[];
}

export function planDeliveries(batch: FanOutBatch, routes: Routes): Plan {
  const plan: Planned[] = [];
  const collected: Collected[] = [];
  for (const event of batch.events) {
    // parsed once per event, and only if a target has a filter
    let facts: FilterFacts | undefined;
    for (const target of routes.matching(event.tenant, event.type)) {
      const { endpointId } = target;
      if (isAbout(event, endpointId)) continue;
      if (!target.destination.accepts(event)) continue;
      if (target.filter !== null) {
        facts ??= readFacts(event);
        if (failedCondition(target.filter, facts) !== null) continue;
      }
      const encoding = batchEncodingOf(target.format);
      if (encoding === null) plan.push(planned(event, target, batch));
      else {
        const bytes = memberBytes(encoding, event, target);
        collected.push({ eventId: event.id, endpointId, bytes, target });
      }
    }
  }
  return { deliveries: plan, collected };
}

function planned(event: Event, target: Target, batch: FanOutBatch): Planned {
  const { endpointId } = target;
  return {
    id: deliveryIdOf(event.id, endpointId),
    event,
    eventId: event.id,
    endpointId,
    target,
    attempts: 0,
    failures: 0,
    scheduleStartedMs: event.createdAt.getTime(),
    trigger: "event",
    isOrdered: target.ordering === "fifo" && canBeOrdered(event, batch),
    claim: claim.none,
    isForeign: false,
    owner: null,
    claimBatch: null,
  };
}

/** Uses the longest possible sequence if the event gets one that is not yet known. */
function memberBytes(encoding: BatchEncoding, event: Event, { formatContext }: Target): number {
  const sequence = event.subject === null ? null : (event.sequence ?? Number.MAX_SAFE_INTEGER);
  return encoding.encodeMember({ ...event, sequence }, formatContext).length;
}

/** The outbox may contain events with a subject from before sequences existed. */
function canBeOrdered(event: Event, { fromOutbox }: FanOutBatch): boolean {
  return (fromOutbox ? event.sequence : event.subject) !== null;
}
