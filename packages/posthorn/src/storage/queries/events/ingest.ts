// Stores events with their idempotency keys, queue rows and lanes in one statement. Used for new events and, by the
// relay, for events in the outbox.
import type { ClaimBatch, Event, RecordedHealth, Uuid } from "../../../model.ts";
import { byteaArray, int2Array, int4Array, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { ingestStatements } from "./ingest-statements.ts";
import {
  type IdempotencyKey,
  keyValues,
  type NumberedRow,
  type SubjectEvent,
  subjectEventValues,
} from "./number.ts";

export interface IngestBatch {
  readonly workerId: number;
  /** False in a process that does not send: it claims no lanes and marks them ready for others. */
  readonly delivers: boolean;
  /** The routing version at which each tenant's routes were read. The batch is rejected if one has changed. */
  readonly routes: ReadonlyMap<string, number>;
  /** An event with a subject and no sequence is numbered here. */
  readonly events: readonly Event[];
  readonly keys: readonly IdempotencyKey[];
  /**
   * Events that are in the outbox. Returned as refused if another worker has relayed them, or if an earlier event of their
   * subject stays in the outbox.
   */
  readonly outbox: readonly Event[];
  readonly deliveries: readonly QueuedDelivery[];
  /** Events to add to pending batches. */
  readonly collected: readonly CollectedEvent[];
  /** Lanes of the deliveries that this worker does not own. */
  readonly foreignLanes: readonly Uuid[];
  /** The foreign lanes whose owners are known, and get their deliveries if the batch is plain (`write.ts`). */
  readonly peerLanes: ReadonlyMap<Uuid, number>;
}

export interface CollectedEvent {
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** Size in the batch, slightly too high because the sequence is not known yet. */
  readonly bytes: number;
}

export const claim = {
  /** Unclaimed: a worker fetches it later. */
  none: 0,
  /** Claimed in the statement that stores the event: this worker owns the lane and has capacity. */
  mine: 1,
  /** Claimed on insert if this statement claims the lane. */
  ifGained: 2,
  /** Claimed on insert by the lane's owner in another process; unclaimed unless the batch is plain. */
  byOwner: 3,
} as const;

export interface QueuedDelivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly claim: (typeof claim)[keyof typeof claim];
  /** Delivered after the earlier events of its subject. The event has its sequence by then. */
  readonly isOrdered: boolean;
  /** Set when the event's row claims it, see `write.ts`. */
  claimBatch: ClaimBatch | null;
}

export interface IngestResult {
  /** False if this worker was reaped or the routes were stale. Nothing was written then. */
  readonly written: boolean;
  readonly staleTenants: readonly string[];
  /** Events with a known idempotency key, and outbox rows that another worker has relayed. */
  readonly refusedEventIds: readonly Uuid[];
  /** Stored, but left in the outbox behind an earlier event of their subject. */
  readonly deferredEventIds: readonly Uuid[];
  /** Sequences of events with a subject. */
  readonly sequences: ReadonlyMap<Uuid, number>;
  /** Ordered deliveries that wait for an earlier one. */
  readonly behindIds: readonly Uuid[];
  /** The claimed lanes with the recorded health of their endpoints. */
  readonly gainedLanes: ReadonlyMap<Uuid, RecordedHealth | null>;
  /** The owners of peer lanes have claimed their deliveries, and are not yet notified. */
  readonly isClaimedByOwners: boolean;
  /** Owners to notify of new deliveries in their lanes. */
  readonly otherOwners: ReadonlyMap<Uuid, number>;
  /** Lanes with new deliveries and no owner. */
  readonly readyLanes: readonly Uuid[];
}

export async function ingest(db: Queryable, batch: IngestBatch): Promise<IngestResult> {
  const { events, outbox } = batch;
  const subjectEvents = [...events.filter(hasSubject), ...outbox.filter(hasNumber)].map(toSubjectEvent);
  const values = [
    batch.workerId,
    textArray([...batch.routes.keys()]),
    int8Array([...batch.routes.values()]),
    ...keyValues(batch.keys),
    uuidArray(outbox.map((event) => event.id)),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.tenant)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.apiVersion)),
    textArray(events.map((event) => event.subject)),
    byteaArray(events.map((event) => event.payload)),
    uuidArray(batch.foreignLanes),
    uuidArray(wantedLanes(batch)),
    ...deliveryValues(batch.deliveries.filter((delivery) => !delivery.isOrdered)),
  ];
  const hasSubjects = subjectEvents.length > 0;
  if (hasSubjects) values.push(...orderValues(batch, subjectEvents));
  const extra = extraOf(batch);
  if (extra !== "plain") values.push(textArray(events.map((event) => event.traceparent ?? null)));
  if (extra === "rich") values.push(...richValues(batch));
  const statement = ingestStatements[hasSubjects ? "subjects" : "plain"][extra];
  const [row] = await db.query<IngestRow>(statement, values);
  return toResult(row as IngestRow, batch.workerId, subjectEvents);
}

function extraOf({ events, collected }: IngestBatch): "plain" | "traced" | "rich" {
  if (collected.length > 0 || events.some((event) => event.attributes !== undefined)) return "rich";
  return events.some((event) => event.traceparent !== undefined) ? "traced" : "plain";
}

function richValues({ events, collected }: IngestBatch): unknown[] {
  return [
    textArray(events.map(({ attributes }) => (attributes === undefined ? null : JSON.stringify(attributes)))),
    uuidArray(collected.map(({ endpointId }) => endpointId)),
    uuidArray(collected.map(({ eventId }) => eventId)),
    int4Array(collected.map(({ bytes }) => bytes)),
  ];
}

const hasSubject = (event: Event): boolean => event.subject !== null;
const hasNumber = (event: Event): boolean => event.sequence !== null;

export function toSubjectEvent({ id, tenant, subject, sequence }: Event): SubjectEvent {
  return { eventId: id, tenant, subject: subject as string, sequence };
}

function deliveryValues(deliveries: readonly QueuedDelivery[]): Buffer[] {
  return [
    uuidArray(deliveries.map((delivery) => delivery.id)),
    uuidArray(deliveries.map((delivery) => delivery.eventId)),
    uuidArray(deliveries.map((delivery) => delivery.endpointId)),
    int2Array(deliveries.map((delivery) => delivery.claim)),
  ];
}

/** Events and ordered deliveries refer to their sequence by its position in the list. */
function orderValues({ events, deliveries }: IngestBatch, subjectEvents: readonly SubjectEvent[]): unknown[] {
  const places = new Map(subjectEvents.map(({ eventId }, index) => [eventId, index + 1]));
  const placeOf = ({ eventId }: QueuedDelivery): number => places.get(eventId) as number;
  const ordered = deliveries.filter((delivery) => delivery.isOrdered);
  return [
    ...subjectEventValues(subjectEvents),
    int4Array(events.map((event) => places.get(event.id) ?? 0)),
    ...deliveryValues(ordered),
    int4Array(ordered.map(placeOf)),
    textArray(ordered.map((delivery) => (subjectEvents[placeOf(delivery) - 1] as SubjectEvent).subject)),
    uuidArray([...new Set(ordered.map((delivery) => delivery.eventId))]),
  ];
}

/** A worker without free capacity leaves the lane to others. */
function wantedLanes({ delivers, deliveries }: IngestBatch): Uuid[] {
  if (!delivers) return [];
  return [...new Set(deliveries.filter((row) => row.claim === claim.ifGained).map((row) => row.endpointId))];
}

interface IngestRow extends Partial<NumberedRow> {
  written: boolean;
  stale: string[] | null;
  deferred?: Uuid[] | null;
  behind?: Uuid[] | null;
  lanes: [endpointId: Uuid, owner: number | null, gained: boolean, health: RecordedHealth | null][] | null;
}

function toResult(row: IngestRow, workerId: number, subjectEvents: readonly SubjectEvent[]): IngestResult {
  const lanes = row.lanes ?? [];
  return {
    written: row.written,
    staleTenants: row.stale ?? [],
    refusedEventIds: row.refused ?? [],
    deferredEventIds: row.deferred ?? [],
    sequences: new Map(
      (row.sequences ?? []).map((n, index) => [(subjectEvents[index] as SubjectEvent).eventId, n]),
    ),
    behindIds: row.behind ?? [],
    isClaimedByOwners: false,
    gainedLanes: new Map(
      lanes.flatMap(([id, , gained, health]): [Uuid, RecordedHealth | null][] =>
        gained ? [[id, health]] : [],
      ),
    ),
    otherOwners: new Map(
      lanes.flatMap(([id, owner]): [Uuid, number][] =>
        owner === null || owner === workerId ? [] : [[id, owner]],
      ),
    ),
    readyLanes: lanes.filter(([, owner, gained]) => owner === null && !gained).map(([id]) => id),
  };
}
