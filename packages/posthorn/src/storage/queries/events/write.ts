// New events and finished attempts in one statement and one commit, for the common case: events without keys, subjects,
// attributes or traces, in lanes whose owners are known, and first attempts that succeeded. Other cases use ingest.ts
// and settle.ts.
import type { Event, Settlement, Uuid } from "../../../model.ts";
import {
  booleanArray,
  byteaArray,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
  uuidBytes,
} from "../../binary-array.ts";
import type { DirectConnection } from "../../database.ts";
import { statement } from "../../sql.ts";
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
  /**
   * False if the events were not written: this worker was reaped, routes or owners of lanes have changed, or the events
   * are older than `claims_since`.
   */
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
  const queued = deliveries.filter((delivery) => delivery.claim !== claim.mine);
  const worker = Buffer.allocUnsafe(4);
  worker.writeInt32BE(workerId);
  const values = [
    worker,
    textArray([...routes.keys()]),
    int8Array([...routes.values()]),
    uuidArray(events.map((event) => event.id)),
    textArray(events.map((event) => event.tenant)),
    textArray(events.map((event) => event.type)),
    textArray(events.map((event) => event.apiVersion)),
    byteaArray(events.map((event) => event.payload)),
    byteaArray(claimsOf(events, deliveries)),
    ...firstSuccessValues(settlements),
  ];
  const hasRow = settlements.map(({ delivery }) => delivery.claimBatch === null);
  const needsQueue = queued.length > 0 || hasRow.includes(true);
  if (needsQueue) values.push(booleanArray(hasRow), ...queueValues(queued, peerLanes));
  const [written, refused] = await connection.execute(needsQueue ? writeWithQueue : writeOnly, values);
  const refusedIds = refused === null || refused === undefined ? [] : (JSON.parse(refused) as Uuid[]);
  return { areEventsWritten: written === "t", refusedIds: new Set(refusedIds) };
}

function queueValues(queued: readonly QueuedDelivery[], peerLanes: ReadonlyMap<Uuid, number>): Buffer[] {
  return [
    uuidArray(queued.map((delivery) => delivery.id)),
    uuidArray(queued.map((delivery) => delivery.eventId)),
    uuidArray(queued.map((delivery) => delivery.endpointId)),
    int4Array(
      queued.map((delivery) =>
        delivery.claim === claim.byOwner ? (peerLanes.get(delivery.endpointId) as number) : null,
      ),
    ),
    uuidArray([...peerLanes.keys()]),
    int4Array([...peerLanes.values()]),
    int4Array([...new Set(peerLanes.values())]),
    uuidArray(unclaimedLanes(queued, peerLanes)),
  ];
}

/** Returns the deliveries that each event claims for this worker: see `posthorn.read_claims`. */
function claimsOf(events: readonly Event[], deliveries: readonly QueuedDelivery[]): (Buffer | null)[] {
  let next = 0;
  return events.map(({ id }) => {
    const ids: Uuid[] = [];
    // the deliveries are in the order of their events
    for (let delivery = deliveries[next]; delivery?.eventId === id; delivery = deliveries[next]) {
      if (delivery.claim === claim.mine) ids.push(delivery.id, delivery.endpointId);
      next += 1;
    }
    return ids.length === 0 ? null : uuidBytes(ids);
  });
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

// Parameters: 1 worker · 2–3 routes · 4–8 events · 9 their claims · 10–19 first successes. With queue rows also: 20 which
// first successes have one · 21–24 deliveries with one · 25–26 lanes of other workers · 27 these workers · 28 lanes of
// other workers with unclaimed deliveries. Without them, a statement costs 150 µs less.
// A reaped worker writes nothing and claims nothing: reaping locks its row for update. A lane may be released while its
// owner gets a claimed delivery, and the owner then releases the delivery too. A lane that gets unclaimed deliveries is
// locked: its release waits and reads them.
const gateConditions = `
  where alive.claims_since <= all ($4::uuid[])
    and not exists (
      select
      from unnest($2::text[], $3::bigint[]) as known (tenant, version)
      left join posthorn.tenants t on t.id = known.tenant
      where coalesce(t.routing_version, 0) <> known.version
    )`;

const storedStep = `
stored as (
  insert into posthorn.events (id, tenant, type, api_version, payload, claimed_by, claims)
  select e.id, e.tenant, e.type, e.api_version, e.payload, case when e.claims is not null then gate.id end, e.claims
  from gate
  cross join unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::bytea[])
    as e (id, tenant, type, api_version, payload, claims)
)`;

const writeOnly = statement("write")`
with ${firstSuccessSteps(10, { mayHaveRows: false })},
gate as materialized (
  select alive.id
  from alive${gateConditions}
),${storedStep}
select exists (select from gate) as written,
  case
    when coalesce((select claims_since from alive) > any ($18::uuid[]), not exists (select from alive))
    then (
      select json_agg(attempt.id)
      from unnest($10::uuid[], $18::uuid[]) as attempt (id, event_id)
      where (attempt.event_id >= (select claims_since from alive)) is not true
    )
  end as refused
`;

const writeWithQueue = statement("write with queue")`
with owners as materialized (
  select w.id
  from posthorn.workers w
  where w.id = any ($27::integer[])
  order by w.id
  for key share
),
unclaimed as materialized (
  select l.endpoint_id
  from posthorn.lanes l
  where l.endpoint_id = any ($28::uuid[])
    and (select count(*) from owners) > 0
  order by l.endpoint_id
  for share
),
${firstSuccessSteps(10, { mayHaveRows: true })},
gate as materialized (
  select alive.id
  from alive${gateConditions}
    and (select count(*) from owners) = cardinality($27::integer[])
    and (select count(*) from unclaimed) = cardinality($28::uuid[])
    and not exists (
      select
      from unnest($25::uuid[], $26::integer[]) as known (endpoint_id, owner)
      left join posthorn.lanes l on l.endpoint_id = known.endpoint_id
      where l.owner is distinct from known.owner
    )
),${storedStep},
queued as (
  insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by)
  select d.id, d.event_id, d.endpoint_id, posthorn.now(), posthorn.now(), d.claimed_by
  from gate
  cross join unnest($21::uuid[], $22::uuid[], $23::uuid[], $24::integer[]) as d (id, event_id, endpoint_id, claimed_by)
)
select exists (select from gate) as written, ${refusedColumn(10)}
`;
