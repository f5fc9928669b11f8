// Stores events and what is owed for them in one statement: facts, idempotency keys, queue rows, lanes. Used for new
// events and, by the relay, for events that a caller's own transaction left in the outbox.
import type { Event, Uuid } from "../../../model.ts";
import { byteaArray, int2Array, int4Array, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isFirst } from "../queue/is-first.ts";
import {
  type IdempotencyKey,
  keyValues,
  type NumberedRow,
  numberSteps,
  patienceStep,
  reserveStep,
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
  /** Lanes of the deliveries that this worker does not own. */
  readonly foreignLanes: readonly Uuid[];
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
  readonly gainedLanes: readonly Uuid[];
  /** Owners to be told of work in their lanes. */
  readonly otherOwners: ReadonlyMap<Uuid, number>;
  /** Lanes with new work that nobody owns. */
  readonly readyLanes: readonly Uuid[];
}

export async function ingest(db: Queryable, batch: IngestBatch): Promise<IngestResult> {
  const { events, outbox } = batch;
  const subjectEvents = [...events.filter(hasSubject), ...outbox.filter(hasNumber)].map(toSubjectEvent);
  const places = new Map(subjectEvents.map(({ eventId }, index) => [eventId, index + 1]));
  const placeOf = ({ eventId }: QueuedDelivery): number => places.get(eventId) as number;
  const ordered = batch.deliveries.filter((delivery) => delivery.isOrdered);
  const deliveries =
    ordered.length === 0 ? batch.deliveries : batch.deliveries.filter((delivery) => !delivery.isOrdered);
  const [row] = await db.query<IngestRow>(ingestStatement, [
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
    int4Array(events.map((event) => places.get(event.id) ?? 0)),
    ...subjectEventValues(subjectEvents),
    uuidArray(batch.foreignLanes),
    uuidArray(wantedLanes(batch)),
    ...deliveryValues(deliveries),
    ...deliveryValues(ordered),
    int4Array(ordered.map(placeOf)),
    textArray(ordered.map((delivery) => (subjectEvents[placeOf(delivery) - 1] as SubjectEvent).subject)),
    uuidArray([...new Set(ordered.map((delivery) => delivery.eventId))]),
  ]);
  return toResult(row as IngestRow, batch.workerId, subjectEvents);
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

/** A lane is gained only to be sent from: a worker without a free place leaves it to others. */
function wantedLanes({ delivers, deliveries }: IngestBatch): Uuid[] {
  if (!delivers) return [];
  return [...new Set(deliveries.filter((row) => row.claim === claim.ifGained).map((row) => row.endpointId))];
}

interface IngestRow extends NumberedRow {
  written: boolean;
  stale: string[] | null;
  deferred: Uuid[] | null;
  behind: Uuid[] | null;
  lanes: [endpointId: Uuid, owner: number | null, gained: boolean][] | null;
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
    gainedLanes: lanes.filter(([, , gained]) => gained).map(([id]) => id),
    otherOwners: new Map(
      lanes.flatMap(([id, owner]): [Uuid, number][] =>
        owner === null || owner === workerId ? [] : [[id, owner]],
      ),
    ),
    readyLanes: lanes.filter(([, owner, gained]) => owner === null && !gained).map(([id]) => id),
  };
}

// Parameters: 1 worker · 2–3 routes · 4–7 keys · 8 outbox · 9–15 events · 16–19 events with a subject · 20 foreign lanes ·
// 21 wanted lanes · 22–25 deliveries · 26–31 ordered deliveries · 32 events that have some.
const ingestStatement = statement(
  "ingest",
  `
with ${patienceStep},
stale as materialized (
  select known.tenant
  from unnest($2::text[], $3::bigint[]) as known (tenant, version)
  left join posthorn.tenants t on t.id = known.tenant
  where coalesce(t.routing_version, 0) <> known.version
),
-- a buried worker writes nothing: burial takes this row for update
gate as materialized (
  select w.id
  from patience, posthorn.workers w
  where w.id = $1::integer
    and not exists (select from stale)
  for key share of w
),
${reserveStep(4)},
waiting as materialized (
  select o.event_id
  from posthorn.outbox o
  where o.event_id = any ($8::uuid[])
    and exists (select from gate)
  for update skip locked
),
-- Events of whose subject an earlier one is in the outbox and stays there. Who sees an event sees the ones before it, so one
-- snapshot is enough; and whoever has no such one before it finds those before it in the queue.
kept_back as materialized (
  select l.event_id, l.tenant, l.subject, l.sequence
  from (
    select numbered.*, bool_or(numbered.follows) over (
      partition by numbered.tenant, numbered.subject
      order by numbered.sequence
    ) as is_kept_back
    from (
      select given.*, exists (
        select
        from (
          select o.event_id
          from posthorn.outbox o
          where o.tenant = given.tenant
            and o.subject = given.subject
            and o.sequence < given.sequence
          order by o.sequence desc
          limit 1
        ) before
        where (before.event_id in (select event_id from waiting)) is not true
      ) as follows
      from gate, unnest($16::uuid[], $17::text[], $18::text[], $19::bigint[])
        as given (event_id, tenant, subject, sequence)
      where given.sequence > 0
    ) numbered
  ) l
  where l.is_kept_back
),
taken as (
  delete from posthorn.outbox o
  where o.event_id = any (array(
      select waiting.event_id
      from waiting
      where (waiting.event_id in (select event_id from kept_back)) is not true
    ))
  returning o.event_id
),
refused as materialized (
  (select unnest($6::uuid[]) as event_id union all select unnest($8::uuid[]))
  except
  (select event_id from reserved union all select event_id from taken)
),
${numberSteps(16)},
stored as (
  insert into posthorn.events (id, tenant, type, api_version, subject, sequence, payload)
  select e.id, e.tenant, e.type, e.api_version, e.subject, numbers.sequences[e.place], e.payload
  from gate
  cross join numbers
  cross join unnest($9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[], $15::integer[])
    as e (id, tenant, type, api_version, subject, payload, place)
  where not exists (select from refused where refused.event_id = e.id)
),
deferred as (
  insert into posthorn.outbox (event_id, tenant, subject, sequence)
  select k.event_id, k.tenant, k.subject, k.sequence
  from kept_back k
  where k.event_id = any ($32::uuid[])
    and k.event_id <> all ($8::uuid[])
  returning event_id
),
left_out as materialized (
  select event_id from refused union all select event_id from deferred
),
-- locked in one order, and only after keys and subjects, so that no two batches wait in a circle
foreign_lanes as materialized (
  select l.endpoint_id, l.owner, l.ready_at, l.paused
  from posthorn.lanes l
  where l.endpoint_id = any ($20::uuid[])
    and exists (select from gate)
    and (select count(*) from numbers) >= 0
  order by l.endpoint_id
  for no key update
),
gained as (
  update posthorn.lanes l
  set owner = gate.id
  from foreign_lanes f, gate
  where l.endpoint_id = f.endpoint_id
    and f.owner is null
    and f.ready_at is null
    and not f.paused
    and f.endpoint_id = any ($21::uuid[])
  returning l.endpoint_id
),
made_ready as (
  update posthorn.lanes l
  set ready_at = posthorn.now()
  from foreign_lanes f
  where l.endpoint_id = f.endpoint_id
    and f.owner is null
    and (f.ready_at > posthorn.now() or (f.ready_at is null and (f.paused or f.endpoint_id <> all ($21::uuid[]))))
),
queued as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(),
    case when d.claim = 1 or (d.claim = 2 and gained.endpoint_id is not null) then gate.id end
  from gate
  cross join unnest($22::uuid[], $23::uuid[], $24::uuid[], $25::smallint[]) as d (id, event_id, endpoint_id, claim)
  left join gained on gained.endpoint_id = d.endpoint_id
  where not exists (select from left_out where left_out.event_id = d.event_id)
),
-- the same, born claimed only when nothing of the subject is owed from before and nothing holds it up
queued_in_order as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, subject, sequence, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(), d.subject, d.sequence,
    case
      when (d.claim = 1 or (d.claim = 2 and gained.endpoint_id is not null))
        and ${isFirst("d")}
      then gate.id
    end
  from gate
  cross join (
    select o.*, numbers.sequences[o.place] as sequence
    from numbers
    cross join unnest($26::uuid[], $27::uuid[], $28::uuid[], $29::smallint[], $30::integer[], $31::text[])
      as o (id, event_id, endpoint_id, claim, place, subject)
  ) d
  left join gained on gained.endpoint_id = d.endpoint_id
  where not exists (select from left_out where left_out.event_id = d.event_id)
  returning id, claimed_by
)
select
  exists (select from gate) as written,
  (select json_agg(tenant) from stale) as stale,
  (select json_agg(event_id) from refused) as refused,
  (select json_agg(event_id) from deferred) as deferred,
  (select array_to_json(sequences) from numbers) as sequences,
  (select json_agg(id) from queued_in_order where claimed_by is null) as behind,
  (
    select json_agg(json_build_array(f.endpoint_id, f.owner, g.endpoint_id is not null))
    from foreign_lanes f
    left join gained g on g.endpoint_id = f.endpoint_id
  ) as lanes
`,
);
