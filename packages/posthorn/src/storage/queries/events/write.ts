// New events and finished attempts in one statement and one commit, for the common case: events without keys, subjects,
// attributes or traces, in lanes whose owners are known, and first attempts that succeeded. Other cases use ingest.ts
// and settle.ts.
import type { Settlement, Uuid } from "../../../model.ts";
import { byteaArray, int4Array, int8Array, textArray, uuidArray } from "../../binary-array.ts";
import type { DirectConnection } from "../../database.ts";
import { durableCommit, statement } from "../../sql.ts";
import { firstSuccessSteps, firstSuccessValues, refusedColumn } from "../queue/settle.ts";
import { claim, type IngestBatch, type IngestResult, type QueuedDelivery } from "./ingest.ts";

/** Returns true if the batch needs no locks or sequences, and the owner of every lane is known. */
export function isPlain({ keys, outbox, foreignLanes, peerLanes, collected, events }: IngestBatch): boolean {
  return (
    keys.length === 0 &&
    outbox.length === 0 &&
    foreignLanes.length === peerLanes.size &&
    collected.length === 0 &&
    events.every(
      (event) => event.subject === null && event.attributes === undefined && event.traceparent === undefined,
    )
  );
}

/** The result of a plain batch that was written. */
export const writtenPlain: IngestResult = {
  written: true,
  staleTenants: [],
  refusedEventIds: [],
  deferredEventIds: [],
  sequences: new Map(),
  behindIds: [],
  isClaimedByOwners: true,
  gainedLanes: new Map(),
  otherOwners: new Map(),
  readyLanes: [],
};

export interface Written {
  /** False if the events were not written: this worker was reaped, or routes or owners of lanes have changed. */
  readonly areEventsWritten: boolean;
  /** Deliveries that were not settled, because another worker owns them. */
  readonly refusedIds: ReadonlySet<Uuid>;
}

const noBatch: Pick<IngestBatch, "routes" | "events" | "deliveries" | "peerLanes"> = {
  routes: new Map(),
  events: [],
  deliveries: [],
  peerLanes: new Map(),
};

/** `batch` is plain, or null to settle only. The settlements are first successes of this worker. */
export async function write(
  connection: DirectConnection,
  workerId: number,
  batch: IngestBatch | null,
  settlements: readonly Settlement[],
): Promise<Written> {
  const { routes, events, deliveries, peerLanes } = batch ?? noBatch;
  const worker = Buffer.allocUnsafe(4);
  worker.writeInt32BE(workerId);
  const [written, refused] = await connection.execute(writeStatement, [
    worker,
    textArray([...routes.keys()]),
    int8Array([...routes.values()]),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.tenant)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.apiVersion)),
    byteaArray(events.map((event) => event.payload)),
    uuidArray(deliveries.map((delivery) => delivery.id)),
    uuidArray(deliveries.map((delivery) => delivery.eventId)),
    uuidArray(deliveries.map((delivery) => delivery.endpointId)),
    int4Array(
      deliveries.map((delivery) => {
        if (delivery.claim === claim.byOwner) return peerLanes.get(delivery.endpointId) as number;
        return delivery.claim === claim.mine ? workerId : null;
      }),
    ),
    uuidArray([...peerLanes.keys()]),
    int4Array([...peerLanes.values()]),
    int4Array([...new Set(peerLanes.values())]),
    uuidArray(unclaimedLanes(deliveries, peerLanes)),
    ...firstSuccessValues(settlements),
  ]);
  const refusedIds = refused === null || refused === undefined ? [] : (JSON.parse(refused) as Uuid[]);
  return { areEventsWritten: written === "t", refusedIds: new Set(refusedIds) };
}

/** Returns the lanes of other workers that get unclaimed deliveries. */
function unclaimedLanes(
  deliveries: IngestBatch["deliveries"],
  peerLanes: ReadonlyMap<Uuid, number>,
): readonly Uuid[] {
  if (peerLanes.size === 0) return [];
  const isUnclaimed = (delivery: QueuedDelivery) =>
    delivery.claim === claim.none && peerLanes.has(delivery.endpointId);
  return [...new Set(deliveries.filter(isUnclaimed).map(({ endpointId }) => endpointId))];
}

// Parameters: 1 worker · 2–3 routes · 4–8 events · 9–12 deliveries · 13–14 lanes of other workers · 15 these workers ·
// 16 lanes of other workers with unclaimed deliveries · 17–26 first successes.
// A reaped worker writes nothing and claims nothing: reaping locks its row for update. A lane may be released while its
// owner gets a claimed delivery, and the owner then releases the delivery too. A lane that gets unclaimed deliveries is
// locked: its release waits and reads them.
const writeStatement = statement("write")`
with owners as materialized (
  select w.id
  from posthorn.workers w
  where w.id = any ($15::integer[])
  order by w.id
  for key share
),
unclaimed as materialized (
  select l.endpoint_id
  from posthorn.lanes l
  where l.endpoint_id = any ($16::uuid[])
    and (select count(*) from owners) > 0
  order by l.endpoint_id
  for share
),
gate as materialized (
  select w.id, ${durableCommit} as durable
  from posthorn.workers w
  where w.id = $1::integer
    and not exists (
      select
      from unnest($2::text[], $3::bigint[]) as known (tenant, version)
      left join posthorn.tenants t on t.id = known.tenant
      where coalesce(t.routing_version, 0) <> known.version
    )
    and (select count(*) from owners) = cardinality($15::integer[])
    and (select count(*) from unclaimed) = cardinality($16::uuid[])
    and not exists (
      select
      from unnest($13::uuid[], $14::integer[]) as known (endpoint_id, owner)
      left join posthorn.lanes l on l.endpoint_id = known.endpoint_id
      where l.owner is distinct from known.owner
    )
  for key share of w
),
stored as (
  insert into posthorn.events (id, tenant, type, api_version, payload)
  select e.id, e.tenant, e.type, e.api_version, e.payload
  from gate
  cross join unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    as e (id, tenant, type, api_version, payload)
),
queued as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(), d.claimed_by
  from gate
  cross join unnest($9::uuid[], $10::uuid[], $11::uuid[], $12::integer[]) as d (id, event_id, endpoint_id, claimed_by)
),
${firstSuccessSteps(17)}
select exists (select from gate) as written, ${refusedColumn(17)}
`;
