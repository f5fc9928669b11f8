// Reads the newest events of a type, which a public topic shows. Examines a limited number of the tenant's events, like
// a page. Test events and rejected events are excluded.
import type { Event, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { column } from "../../query.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "./event-row.ts";

const LOOK_AT = 2_000;

/** Newest first. The first one is returned whatever its size. */
// See list.ts for the range of the pair and the hidden limits. The size of a payload is known without reading it.
export const newestOfType = column<
  Uuid,
  [tenant: string, type: string, { readonly limit: number; readonly maxBytes: number }]
>("newest events of type", (tenant, type, { limit, maxBytes }) => [tenant, type, limit, maxBytes])`
with looked_at as materialized (
  select e.id, e.type, e.is_test
  from posthorn.events e
  where (e.tenant, e.id) >= ($1::text, '00000000-0000-0000-0000-000000000000'::uuid)
    and (e.tenant, e.id) <= ($1::text, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  order by e.tenant desc, e.id desc
  limit (select ${LOOK_AT})
),
newest as materialized (
  select
    e.id,
    row_number() over (order by e.id desc) as place,
    sum(octet_length(e.payload)) over (order by e.id desc) as bytes
  from posthorn.events e
  where e.id = any (array(
      select looked_at.id
      from looked_at
      where looked_at.type = $2::text
        and looked_at.is_test is not true
        and not exists (select from posthorn.rejected_events r where r.event_id = looked_at.id)
      order by looked_at.id desc
      limit $3::integer
    ))
)
select newest.id
from newest
where newest.place = 1 or newest.bytes <= $4::bigint
order by newest.id desc
`;

/** Newest first; without events that retention has dropped since. */
export async function readEvents(db: Queryable, ids: readonly Uuid[]): Promise<Event[]> {
  return (await db.query<EventRow>(readStatement, [uuidArray(ids)])).map(toEvent);
}

const readStatement = statement("read public events")`
select ${eventColumns}
from posthorn.events e
where e.id = any ($1::uuid[])
order by e.id desc
`;
