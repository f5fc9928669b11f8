// Claims new deliveries in the statement that stores the event. Those in lanes that this worker owns, or gains by that
// statement, are claimed by this worker and sent from memory. Those in lanes of other processes of this machine are
// claimed by these processes.

import type { Planned } from "../fan-out/plan.ts";
import type { Event, Uuid } from "../model.ts";
import { claim, type IngestResult } from "../storage/queries/events/ingest.ts";
import { laneCapacity } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { Peers } from "./peers.ts";

/** Decides which of the planned deliveries the statement claims, and reserves capacity for them. */
export function reserve(
  lanes: Lanes,
  rows: readonly Planned[],
  { mayGainLanes, peers }: { mayGainLanes: boolean; peers: Pick<Peers, "ownerOf" | "accepts"> },
): void {
  const counts = new Map<Uuid, number>();
  const subjects = new Set<string>();
  for (const row of rows) {
    const { endpointId, target } = row;
    const reserved = lanes.reserve(target);
    row.isForeign = reserved === "foreign" || reserved === "draining";
    // only the first delivery of a subject is claimed; later ones wait in the database
    const isBehind = row.isOrdered && !isFirst(`${endpointId} ${row.event.subject}`, subjects);
    if (reserved === "own") {
      if (isBehind) lanes.unreserve(endpointId);
      else row.claim = claim.mine;
      continue;
    }
    if (reserved !== "foreign") continue;
    row.owner = row.isOrdered ? null : peers.ownerOf(endpointId);
    const count = (counts.get(endpointId) ?? 0) + 1;
    counts.set(endpointId, count);
    // no owner holds more of a lane in memory
    if (isBehind || count > laneCapacity(target)) continue;
    if (row.owner === null) {
      if (target.isActive && mayGainLanes && lanes.hasCapacity) row.claim = claim.ifGained;
    } else if (peers.accepts(endpointId)) row.claim = claim.byOwner;
  }
}

function isFirst(subject: string, seen: Set<string>): boolean {
  if (seen.has(subject)) return false;
  seen.add(subject);
  return true;
}

/** Returns the reserved capacity, because nothing was stored. */
export function releaseReserved(lanes: Lanes, rows: readonly Planned[]): void {
  for (const row of rows) if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
}

/**
 * Opens the gained lanes and admits the claimed deliveries. Returns the endpoints of own lanes with
 * deliveries that were not, and the deliveries to pass to other workers.
 */
export function applyIngested(
  lanes: Lanes,
  rows: readonly Planned[],
  result: IngestResult,
): { due: ReadonlySet<Uuid>; toPass: readonly Planned[] } {
  const leftOut = new Set([...result.refusedEventIds, ...result.deferredEventIds]);
  const behind = new Set(result.behindIds);
  const gained = result.gainedLanes;
  const numbered = new Map<Uuid, Event>();
  const due = new Set<Uuid>();
  const toPass: Planned[] = [];
  if (gained.size > 0) openGained(lanes, rows, gained);
  for (const row of rows) {
    if (row.claim === claim.mine) lanes.unreserve(row.endpointId);
    if (leftOut.has(row.eventId)) continue;
    if (row.owner !== null && result.isClaimedByOwners) {
      toPass.push(row);
      continue;
    }
    const isGained = gained.has(row.endpointId);
    const isClaimed = row.claim === claim.mine || (row.claim === claim.ifGained && isGained);
    if (isClaimed && !behind.has(row.id)) {
      const lane = lanes.get(row.endpointId);
      if (lane === undefined) continue;
      row.event = withSequence(row.event, result.sequences, numbered);
      lanes.admit(row, lane);
    } else if (!row.isForeign || lanes.get(row.endpointId)?.isOpen) {
      // a foreign lane may have been claimed, or its release refused, before these rows were committed
      due.add(row.endpointId);
    }
  }
  return { due, toPass };
}

function openGained(lanes: Lanes, rows: readonly Planned[], gained: IngestResult["gainedLanes"]): void {
  const opened = new Set<Uuid>();
  for (const { endpointId, target } of rows) {
    const health = gained.get(endpointId);
    if (health === undefined || opened.has(endpointId)) continue;
    opened.add(endpointId);
    lanes.open(target, health);
  }
}

/** Returns the event with its sequence. The deliveries of one event share the object. */
function withSequence(event: Event, sequences: ReadonlyMap<Uuid, number>, numbered: Map<Uuid, Event>): Event {
  const sequence = sequences.get(event.id);
  if (sequence === undefined || sequence === event.sequence) return event;
  const known = numbered.get(event.id) ?? { ...event, sequence };
  numbered.set(event.id, known);
  return known;
}
