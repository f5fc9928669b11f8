// Who gets which event, and how each delivery is to be born, as far as this worker can tell.
import type { BatchEncoding } from "../formats/format.ts";
import { batchEncodingOf } from "../formats/formats.ts";
import type { Event, Target, Uuid } from "../model.ts";
import { type CollectedEvent, claim, type QueuedDelivery } from "../storage/queries/events/ingest.ts";
import { deliveryIdOf } from "./delivery-id.ts";
import type { FanOutBatch, LaneOwner } from "./fan-out.ts";
import { type FilterFacts, failedCondition, readFacts } from "./filter.ts";
import { laneCapacity } from "./lane-capacity.ts";
import { isAbout } from "./matches.ts";
import type { Routes } from "./routes.ts";

export interface Planned extends QueuedDelivery {
  readonly event: Event;
  readonly target: Target;
  readonly isForeign: boolean;
}

export interface Collected extends CollectedEvent {
  readonly target: Target;
}

export interface Plan {
  readonly deliveries: readonly Planned[];
  /** Those that wait for others to be sent with. */
  readonly collected: readonly Collected[];
}

export function planDeliveries(batch: FanOutBatch, routes: Routes, lanes: LaneOwner): Plan {
  const plan: Planned[] = [];
  const collected: Collected[] = [];
  const hoped = new Map<Uuid, number>();
  const subjects = new Set<string>();
  for (const event of batch.events) {
    // read once, and only for whoever has a filter
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
      if (encoding !== null) {
        collected.push({
          eventId: event.id,
          endpointId,
          bytes: memberBytes(encoding, event, target),
          target,
        });
        continue;
      }
      const isOrdered = target.ordering === "fifo" && canBeOrdered(event, batch);
      const reservation = lanes.reserve(target);
      const isHoped = reservation.claim === claim.ifGained;
      if (isHoped) hoped.set(endpointId, (hoped.get(endpointId) ?? 0) + 1);
      // a lane that is gained takes no more into memory than one that is owned
      const isTooMany = isHoped && (hoped.get(endpointId) ?? 0) > laneCapacity(target);
      const isBehind = isOrdered && !isFirst(`${endpointId} ${event.subject}`, subjects);
      if (isBehind && reservation.claim === claim.mine) lanes.unreserve(endpointId);
      plan.push({
        id: deliveryIdOf(event.id, endpointId),
        eventId: event.id,
        endpointId,
        event,
        target,
        isForeign: reservation.isForeign,
        claim: isTooMany || isBehind ? claim.none : reservation.claim,
        isOrdered,
      });
    }
  }
  return { deliveries: plan, collected };
}

/** With the longest sequence there is, where it has one and nobody knows it yet. */
function memberBytes(encoding: BatchEncoding, event: Event, { formatContext }: Target): number {
  const sequence = event.subject === null ? null : (event.sequence ?? Number.MAX_SAFE_INTEGER);
  return encoding.encodeMember({ ...event, sequence }, formatContext).length;
}

/** In the outbox may be events with a subject from before there were numbers. */
function canBeOrdered(event: Event, { fromOutbox }: FanOutBatch): boolean {
  return (fromOutbox ? event.sequence : event.subject) !== null;
}

/** Of a subject, the first of a batch is sent; those behind it wait in the database. */
function isFirst(subject: string, seen: Set<string>): boolean {
  if (seen.has(subject)) return false;
  seen.add(subject);
  return true;
}
