// Plans which endpoint receives which event, and whether its delivery is inserted claimed.
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
  /** Events that wait for a batch. */
  readonly collected: readonly Collected[];
}

export function planDeliveries(batch: FanOutBatch, routes: Routes, lanes: LaneOwner): Plan {
  const plan: Planned[] = [];
  const collected: Collected[] = [];
  const ifGainedCounts = new Map<Uuid, number>();
  const subjects = new Set<string>();
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
      const isIfGained = reservation.claim === claim.ifGained;
      if (isIfGained) ifGainedCounts.set(endpointId, (ifGainedCounts.get(endpointId) ?? 0) + 1);
      // a gained lane holds no more in memory than an owned one
      const isTooMany = isIfGained && (ifGainedCounts.get(endpointId) ?? 0) > laneCapacity(target);
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

/** Uses the longest possible sequence if the event gets one that is not yet known. */
function memberBytes(encoding: BatchEncoding, event: Event, { formatContext }: Target): number {
  const sequence = event.subject === null ? null : (event.sequence ?? Number.MAX_SAFE_INTEGER);
  return encoding.encodeMember({ ...event, sequence }, formatContext).length;
}

/** The outbox may contain events with a subject from before sequences existed. */
function canBeOrdered(event: Event, { fromOutbox }: FanOutBatch): boolean {
  return (fromOutbox ? event.sequence : event.subject) !== null;
}

/** Only the first delivery of a subject in a batch is claimed; later ones wait in the database. */
function isFirst(subject: string, seen: Set<string>): boolean {
  if (seen.has(subject)) return false;
  seen.add(subject);
  return true;
}
