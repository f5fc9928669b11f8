// Stores events and what is owed for them in one statement: facts, idempotency keys, queue rows, lanes. Used for new
// events and, by the relay, for events that a caller's own transaction left in the outbox.
import type { Event, RecordedHealth, Uuid } from "../../../model.ts";
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
  /** False in a process that only ingests: it gains no lanes, it makes them ready for others. */
  readonly delivers: boolean;
  /** The routing version each tenant's routes were read at. A changed one refuses the batch. */
  readonly routes: ReadonlyMap<string, number>;
  /** One with a subject and no sequence gets its number here. */
  readonly events: readonly Event[];
  readonly keys: readonly IdempotencyKey[];
  /**
   * Events that already stand in the outbox. Those another worker took meanwhile come back as refused, and so do those
   * of whose subject an earlier one stays behind.
   */
  readonly outbox: readonly Event[];
  readonly deliveries: readonly QueuedDelivery[];
  /** Events that are to wait for their batches. */
  readonly collected: readonly CollectedEvent[];
  /** Lanes of the deliveries that this worker does not own. */
  readonly foreignLanes: readonly Uuid[];
}

export interface CollectedEvent {
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  /** In the batch, a few bytes more at most: nobody knows its sequence yet. */
  readonly bytes: number;
}

export const claim = {
  /** Owed: somebody fetches it. */
  none: 0,
  /** Born claimed: this worker owns the lane and has room. */
  mine: 1,
  /** Born claimed if this very statement gains the lane. */
  ifGained: 2,
} as const;

export interface QueuedDelivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly claim: (typeof claim)[keyof typeof claim];
  /** After whatever came before it in the event's subject, and not at its side. The event has its sequence by then. */
  readonly isOrdered: boolean;
}

export interface IngestResult {
  /** False: this worker was buried, or routes were stale. Nothing was written. */
  readonly written: boolean;
  readonly staleTenants: readonly string[];
  /** Known idempotency keys, and outbox rows that another worker has taken. */
  readonly refusedEventIds: readonly Uuid[];
  /** Stored, and left in the outbox behind an earlier event of their subject. */
  readonly deferredEventIds: readonly Uuid[];
  /** Numbers of events with a subject. */
  readonly sequences: ReadonlyMap<Uuid, number>;
  /** Ordered deliveries that are owed, because it is not their turn. */
  readonly behindIds: readonly Uuid[];
  /** With what was last written down about their endpoints. */
  readonly gainedLanes: ReadonlyMap<Uuid, RecordedHealth | null>;
  /** Owners to be told of work in their lanes. */
  readonly otherOwners: ReadonlyMap<Uuid, number>;
  /** Lanes with new work that nobody owns. */
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

function deliveryValues(deliveries: readonly QueuedDelivery[]): unknown[] {
  return [
    uuidArray(deliveries.map((delivery) => delivery.id)),
    uuidArray(deliveries.map((delivery) => delivery.eventId)),
    uuidArray(deliveries.map((delivery) => delivery.endpointId)),
    int2Array(deliveries.map((delivery) => delivery.claim)),
  ];
}

/** Events and ordered deliveries say by their place in the list which number is theirs. */
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

/** A lane is gained only to be sent from: a worker without a free place leaves it to others. */
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
