// Lists events, newest first. The conditions are part of the text, so that each combination has its own plan: along the
// tenant's index, otherwise along the primary key.
// There is no index on types and subjects, which every event would pay for. A page with such a filter examines a
// limited number of events and returns how far it got.
import type { Event, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { rows } from "../../query.ts";
import { statement } from "../../sql.ts";
import { type Filter, type IdRange, isCutShort, type PageOfBytes, pageBytes } from "../page.ts";
import { type EventRow, eventColumns, toEvent } from "./event-row.ts";

export type EventFilter = IdRange &
  Filter<"tenant" | "type" | "subject"> & {
    /** Only events that the catalogue rejected and that nobody has released or discarded. */
    readonly isRejected: boolean;
  };

export interface ListedEvents {
  readonly events: readonly Event[];
  /** Events after this one were not examined, or omitted for their size. Null: there are none, or the page is full. */
  readonly examinedUpTo: Uuid | null;
}

export async function listEvents(db: Queryable, filter: EventFilter): Promise<ListedEvents> {
  const { notBefore, before, limit, tenant, type, subject, isRejected } = filter;
  const sought = Object.entries({ type, subject }).filter(([, value]) => value !== null);
  const listed = await db.query<EventRow & PageOfBytes & { examinedUpTo: Uuid | null }>(
    listStatement(
      isRejected,
      tenant !== null,
      sought.map(([column]) => column),
    ),
    [notBefore, before, limit, ...(tenant === null ? [] : [tenant]), ...sought.map(([, value]) => value)],
  );
  // a filtered page always has one row that carries how far it got
  const found = listed.filter(({ event_id }) => event_id !== null);
  const events = found.map(toEvent);
  if (isCutShort(found)) return { events, examinedUpTo: events.at(-1)?.id ?? null };
  return { events, examinedUpTo: events.length === limit ? null : (listed[0]?.examinedUpTo ?? null) };
}

function listStatement(isRejected: boolean, isOfTenant: boolean, sought: readonly string[]) {
  const [all, one] = isRejected ? [rejectedOfAll, rejectedOfTenant] : [ofAll, ofTenant];
  const source = isOfTenant ? one : all;
  const kind = isRejected ? "list rejected events" : "list events";
  const name = [kind, ...(isOfTenant ? ["tenant"] : []), ...sought].join(" ");
  if (sought.length === 0) return statement(name)`${pageText(source)}`;
  const firstSought = isOfTenant ? 5 : 4;
  const conditions = sought.map((column, index) => `e.${column} = $${firstSought + index}::text`);
  return statement(name)`${soughtText(source, conditions)}`;
}

const ofAll = `
from posthorn.events e
where e.id >= $1::uuid
  and e.id < $2::uuid
order by e.id desc
`;

// A range of the pair instead of "tenant =", ordered by the pair, can only use the tenant's index. A generic plan
// expects one row a day per tenant, and sorts everything (40 ms at 150,000). "(select …)" hides the limit: if the
// planner knows that few rows are requested, it sorts as well.
const ofTenant = `
from posthorn.events e
where (e.tenant, e.id) >= ($4::text, $1::uuid)
  and (e.tenant, e.id) < ($4::text, $2::uuid)
order by e.tenant desc, e.id desc
`;

// The rejections come from their index, and each event from its primary key.
const rejectedOfAll = `
from posthorn.rejected_events r
join posthorn.events e on e.id = r.event_id
where r.discarded_at is null
  and r.event_id >= $1::uuid
  and r.event_id < $2::uuid
order by r.event_id desc
`;

const rejectedOfTenant = `
from posthorn.rejected_events r
join posthorn.events e on e.id = r.event_id
where r.discarded_at is null
  and (r.tenant, r.event_id) >= ($4::text, $1::uuid)
  and (r.tenant, r.event_id) < ($4::text, $2::uuid)
order by r.tenant desc, r.event_id desc
`;

/** Never reached. Keeps the planner's row estimate below the threshold for JIT. */
const MORE_THAN_A_PAGE = 300;

const { columns: bytesColumns, isShown } = pageBytes("octet_length(e.payload)", "e.id desc");

const pageText = (source: string) => `
select page.*
from (
  select ${eventColumns}, ${bytesColumns}
  from (
    select e.*
    ${source}
    limit (select $3::integer)
  ) e
  limit ${MORE_THAN_A_PAGE}
) page
where page.${isShown}
`;

/** How many events a filtered page examines: 1 ms if all are in memory. */
const LOOK_AT = 2_000;

// A materialized CTE is written only as far as it is read. It leaves out the payloads, which are read only for the
// events shown.
const soughtText = (source: string, conditions: readonly string[]) => `
with looked_at as materialized (
  select first.*
  from (
    select e.id, e.type, e.subject
    ${source}
    limit (select ${LOOK_AT})
  ) first
  limit ${LOOK_AT}
),
matching as materialized (
  select e.id
  from looked_at e
  where ${conditions.join("\n    and ")}
  limit $3::integer
)
select edge.id as "examinedUpTo", page.*
from (
  select (
    select looked_at.id
    from looked_at
    where (select count(*) from matching) < $3::integer
    offset ${LOOK_AT} - 1
    limit 1
  ) as id
) edge
left join (
  select ${eventColumns}, ${bytesColumns}
  from matching
  cross join lateral (
    select shown.*
    from posthorn.events shown
    where shown.id = matching.id
    limit 1
  ) e
) page on page.${isShown}
order by page.event_id desc
`;

/** Does not find another tenant's event if a tenant is given. */
export async function findEvent(db: Queryable, id: Uuid, tenant: string | null): Promise<Event | null> {
  const [row] = await db.query<EventRow>(findStatement, [id, tenant]);
  return row === undefined ? null : toEvent(row);
}

const findStatement = statement("find event")`
select ${eventColumns}
from posthorn.events e
where e.id = $1::uuid
  and ($2::text is null or e.tenant = $2::text)
`;

export interface NewestEvent
  extends Pick<Event, "id" | "tenant" | "type" | "apiVersion" | "subject" | "sequence"> {
  /** It waits for fan-out. */
  readonly isInOutbox: boolean;
}

/** Reads the newest events without payloads, for clients that poll every second. */
export function newestEvents(db: Queryable, limit: number, tenant: string | null): Promise<NewestEvent[]> {
  return tenant === null ? newestOfAll(db, limit) : newestOfTenant(db, limit, tenant);
}

const everyId = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];

const newestIn = <A extends [limit: number, tenant?: string]>(name: string, source: string) =>
  rows<NewestEvent, A>(name, (...asked) => [...everyId, ...asked])`
select e.id, e.tenant, e.type, e.api_version as "apiVersion", e.subject, e.sequence, exists (
    select
    from posthorn.outbox o
    where o.event_id = e.id
  ) as "isInOutbox"
${source}
limit (select $3::integer)
`;

const newestOfAll = newestIn<[limit: number]>("newest events", ofAll);
const newestOfTenant = newestIn<[limit: number, tenant: string]>("newest events of tenant", ofTenant);
