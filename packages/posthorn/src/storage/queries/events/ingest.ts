// Stores events and what is owed for them in one statement: facts, idempotency keys, queue rows, lanes. Used for new
// events and, by the relay, for events that a caller's own transaction left in the outbox.
import type { Event, RecordedHealth, Uuid } from "../../../model.ts";
import { byteaArray, int2Array, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { healthColumn } from "../health/health-column.ts";

export interface IngestBatch {
  readonly workerId: number;
  /** False in a process that only ingests: it gains no lanes, it makes them ready for others. */
  readonly delivers: boolean;
  /** The routing version each tenant's routes were read at. A changed one refuses the batch. */
  readonly routes: ReadonlyMap<string, number>;
  readonly events: readonly Event[];
  readonly keys: readonly IdempotencyKey[];
  /** Events that already stand in the outbox. Those another worker took meanwhile come back as refused. */
  readonly outboxIds: readonly Uuid[];
  readonly deliveries: readonly QueuedDelivery[];
  /** Lanes of the deliveries that this worker does not own. */
  readonly foreignLanes: readonly Uuid[];
}

export interface IdempotencyKey {
  readonly tenant: string;
  readonly key: string;
  readonly eventId: Uuid;
  readonly digest: Uint8Array;
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
}

export interface IngestResult {
  /** False: this worker was buried, or routes were stale. Nothing was written. */
  readonly written: boolean;
  readonly staleTenants: readonly string[];
  /** Known idempotency keys, and outbox rows that another worker has taken. */
  readonly refusedEventIds: readonly Uuid[];
  /** With what was last written down about their endpoints. */
  readonly gainedLanes: ReadonlyMap<Uuid, RecordedHealth | null>;
  /** Owners to be told of work in their lanes. */
  readonly otherOwners: ReadonlyMap<Uuid, number>;
  /** Lanes with new work that nobody owns. */
  readonly readyLanes: readonly Uuid[];
}

export async function ingest(db: Queryable, batch: IngestBatch): Promise<IngestResult> {
  const { events, deliveries } = batch;
  // sorted, so that two batches never wait for each other's keys or lanes in a circle
  const keys = batch.keys.toSorted((a, b) => compare(a.tenant, b.tenant) || compare(a.key, b.key));
  const [row] = await db.query<IngestRow>(ingestStatement, [
    batch.workerId,
    textArray([...batch.routes.keys()]),
    int8Array([...batch.routes.values()]),
    textArray(keys.map((key) => key.tenant)),
    textArray(keys.map((key) => key.key)),
    uuidArray(keys.map((key) => key.eventId)),
    byteaArray(keys.map((key) => key.digest)),
    uuidArray(batch.outboxIds),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.tenant)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.apiVersion)),
    textArray(events.map((event) => event.subject)),
    byteaArray(events.map((event) => event.payload)),
    uuidArray(batch.foreignLanes),
    uuidArray(deliveries.map((delivery) => delivery.id)),
    uuidArray(deliveries.map((delivery) => delivery.eventId)),
    uuidArray(deliveries.map((delivery) => delivery.endpointId)),
    int2Array(deliveries.map((delivery) => delivery.claim)),
    uuidArray(wantedLanes(batch)),
  ]);
  return toResult(row as IngestRow, batch.workerId);
}

/** A lane is gained only to be sent from: a worker without a free place leaves it to others. */
function wantedLanes({ delivers, deliveries }: IngestBatch): Uuid[] {
  if (!delivers) return [];
  return [...new Set(deliveries.filter((row) => row.claim === claim.ifGained).map((row) => row.endpointId))];
}

interface IngestRow {
  written: boolean;
  stale: string[] | null;
  refused: Uuid[] | null;
  lanes: [endpointId: Uuid, owner: number | null, gained: boolean, health: RecordedHealth | null][] | null;
}

function toResult(row: IngestRow, workerId: number): IngestResult {
  const lanes = row.lanes ?? [];
  return {
    written: row.written,
    staleTenants: row.stale ?? [],
    refusedEventIds: row.refused ?? [],
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

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const ingestStatement = statement(
  "ingest",
  `
with patience as materialized (
  -- a caller's open transaction may hold one of the keys: wait a moment only, then the batch is taken apart
  select set_config('lock_timeout', '200', true)
),
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
reserved as (
  insert into posthorn.idempotency_keys (tenant, key, event_id, digest)
  select k.tenant, k.key, k.event_id, k.digest
  from gate, unnest($4::text[], $5::text[], $6::uuid[], $7::bytea[]) as k (tenant, key, event_id, digest)
  on conflict do nothing
  returning event_id
),
taken as (
  delete from posthorn.outbox o
  where o.event_id = any (array(
      select waiting.event_id
      from posthorn.outbox waiting
      where waiting.event_id = any ($8::uuid[])
      for update skip locked
    ))
    and exists (select from gate)
  returning o.event_id
),
refused as materialized (
  (select unnest($6::uuid[]) as event_id union all select unnest($8::uuid[]))
  except
  (select event_id from reserved union all select event_id from taken)
),
stored as (
  insert into posthorn.events (id, tenant, type, api_version, subject, payload)
  select e.id, e.tenant, e.type, e.api_version, e.subject, e.payload
  from gate, unnest($9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bytea[])
    as e (id, tenant, type, api_version, subject, payload)
  where not exists (select from refused where refused.event_id = e.id)
),
-- locked in one order, and only after the keys, so that no two batches wait in a circle
foreign_lanes as materialized (
  select l.endpoint_id, l.owner, l.ready_at, l.paused
  from posthorn.lanes l
  where l.endpoint_id = any ($15::uuid[])
    and exists (select from gate)
    and (select count(*) from refused) >= 0
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
    and f.endpoint_id = any ($20::uuid[])
  returning l.endpoint_id
),
made_ready as (
  update posthorn.lanes l
  set ready_at = posthorn.now()
  from foreign_lanes f
  where l.endpoint_id = f.endpoint_id
    and f.owner is null
    and (f.ready_at > posthorn.now() or (f.ready_at is null and (f.paused or f.endpoint_id <> all ($20::uuid[]))))
),
queued as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(),
    case when d.claim = 1 or (d.claim = 2 and gained.endpoint_id is not null) then gate.id end
  from gate
  cross join unnest($16::uuid[], $17::uuid[], $18::uuid[], $19::smallint[]) as d (id, event_id, endpoint_id, claim)
  left join gained on gained.endpoint_id = d.endpoint_id
  where not exists (select from refused where refused.event_id = d.event_id)
)
select
  exists (select from gate) as written,
  (select json_agg(tenant) from stale) as stale,
  (select json_agg(event_id) from refused) as refused,
  (
    select json_agg(json_build_array(
      f.endpoint_id, f.owner, g.endpoint_id is not null, ${healthColumn("g.endpoint_id")}
    ))
    from foreign_lanes f
    left join gained g on g.endpoint_id = f.endpoint_id
  ) as lanes
`,
);
