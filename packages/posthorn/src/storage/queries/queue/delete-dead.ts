// Deletes dead letters: one, or a part of those that match a filter. Their attempts and events are dropped with their day.
// A dead letter that holds its subject releases it: the endpoint's version is incremented, so that the lane's owner, which
// alone promotes, promotes the next delivery.
import type { Uuid } from "../../../model.ts";
import type { Database } from "../../database.ts";
import { column, run, value } from "../../query.ts";
import { lockLanes } from "../lanes/lock.ts";

export interface DeletedDead {
  /** How many of the deliveries were dead. */
  readonly count: number;
  /** The owners of lanes in which a subject was released. Without an owner, the next owner promotes. */
  readonly owners: readonly number[];
}

/** Leaves deliveries that are not dead, or that became dead later than `deadByMs`. */
export async function deleteDead(
  db: Database,
  deliveryIds: readonly Uuid[],
  deadByMs: number | null = null,
): Promise<DeletedDead> {
  return await db.transaction(async (tx) => {
    const holding = await endpointsHeldBy(tx, deliveryIds);
    if (holding.length === 0) return { count: await deleteRows(tx, deliveryIds, deadByMs), owners: [] };
    await incrementVersions(tx, holding);
    const lanes = [...(await lockLanes(tx, holding)).values()];
    const owners = lanes.flatMap(({ owner }) => (owner === null ? [] : [owner]));
    return { count: await deleteRows(tx, deliveryIds, deadByMs), owners: [...new Set(owners)] };
  });
}

const endpointsHeldBy = column<Uuid, [deliveryIds: readonly Uuid[]]>("endpoints held by dead letters")`
select distinct h.endpoint_id
from posthorn.held_subjects h
where h.endpoint_id = any (array(select d.endpoint_id from posthorn.deliveries d where d.id = any ($1::uuid[])))
  and h.delivery_id = any ($1::uuid[])
`;

/** In the order of ids, like every transaction that locks several endpoints. */
const incrementVersions = run<[endpointIds: readonly Uuid[]]>("increment endpoint versions to delete")`
with locked as materialized (
  select ep.id
  from posthorn.endpoints ep
  where ep.id = any ($1::uuid[])
  order by ep.id
  for no key update
)
update posthorn.endpoints ep
set version = ep.version + 1
where ep.id = any (array(select locked.id from locked))
`;

const deleteRows = value<number, [deliveryIds: readonly Uuid[], deadByMs: number | null]>(
  "delete dead letters",
)`
with deleted as (
  delete from posthorn.deliveries d
  where d.id = any ($1::uuid[])
    and d.state = 'dead'
    and ($2::double precision is null or d.finished_at <= to_timestamp($2::double precision / 1000))
  returning d.id, d.endpoint_id, d.event_id
),
-- otherwise their events would still claim them
unclaimed as (
  update posthorn.events e
  set claims = (
    select string_agg(uuid_send(c.id) || uuid_send(c.endpoint_id), '')
    from posthorn.read_claims(e.claims) c
    where c.id <> all (array(select deleted.id from deleted))
  )
  where e.id = any (array(select deleted.event_id from deleted))
    and e.claims is not null
),
released as (
  delete from posthorn.held_subjects h
  where h.endpoint_id = any (array(select deleted.endpoint_id from deleted))
    and h.delivery_id = any (array(select deleted.id from deleted))
)
select count(*)::integer as count
from deleted
`;
