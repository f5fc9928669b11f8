// A page of events, newest first. Which conditions there are is part of the text, so that each combination has a plan
// of its own: by tenant along its index, otherwise along the primary key.
//
// No index knows types and subjects: one would cost every event. So of rare ones a page finds what is among the next
// so many events, and says how far it looked, as a walk over deliveries does.
import type { Event, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isCutShort, type PageOfBytes, pageBytes } from "../page-bytes.ts";
import { type EventRow, eventColumns, toEvent } from "./event-row.ts";

export interface EventFilter {
  readonly notBefore: Uuid;
  readonly before: Uuid;
  readonly limit: number;
  readonly tenant: string | null;
  readonly type: string | null;
  readonly subject: string | null;
}

export interface ListedEvents {
  readonly events: readonly Event[];
  /** Events beyond this one were not looked at, or left out for their bytes. Null: there are none, or as many as were asked for. */
  readonly lookedUpTo: Uuid | null;
}

export async function listEvents(db: Queryable, filter: EventFilter): Promise<ListedEvents> {
  const { notBefore, before, limit, tenant, type, subject } = filter;
  const sought = Object.entries({ type, subject }).filter(([, value]) => value !== null);
  const rows = await db.query<EventRow & PageOfBytes & { lookedUpTo: Uuid | null }>(
    listStatement(
      tenant !== null,
      sought.map(([column]) => column),
    ),
    [notBefore, before, limit, ...(tenant === null ? [] : [tenant]), ...sought.map(([, value]) => value)],
  );
  // one row is there in any case where events are sought, to say how far that went
  const found = rows.filter(({ event_id }) => event_id !== null);
  const events = found.map(toEvent);
  if (isCutShort(found)) return { events, lookedUpTo: events.at(-1)?.id ?? null };
  return { events, lookedUpTo: events.length === limit ? null : (rows[0]?.lookedUpTo ?? null) };
}

function listStatement(isOfTenant: boolean, sought: readonly string[]) {
  const source = isOfTenant ? ofTenant : ofAll;
  const name = ["list events", ...(isOfTenant ? ["tenant"] : []), ...sought].join(" ");
  if (sought.length === 0) return statement(name, pageText(source));
  const firstSought = isOfTenant ? 5 : 4;
  const conditions = sought.map((column, index) => `e.${column} = $${firstSought + index}::text`);
  return statement(name, soughtText(source, conditions));
}

export const ofAll = `
from posthorn.events e
where e.id >= $1::uuid
  and e.id < $2::uuid
order by e.id desc
`;

// A range of the pair instead of "tenant =", and in the pair's order: only the tenant's own index serves that. A plan for
// any tenant expects one row a day of it, and sorts all there are (40 ms at 150,000). "(select …)" in a limit hides how
// many rows are asked for: where the planner expects fewer, it sorts as well.
export const ofTenant = `
from posthorn.events e
where (e.tenant, e.id) >= ($4::text, $1::uuid)
  and (e.tenant, e.id) < ($4::text, $2::uuid)
order by e.tenant desc, e.id desc
`;

/** Never reached: so that the planner expects no more rows, for whose sake it would compile the statement (JIT). */
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

/** Among so many events a page looks for those that match: 1 ms when all are in memory, and each may be on a page of its own. */
const LOOK_AT = 2_000;

// A materialized part is written no further than it is read, so where all match no more are looked at than are shown.
// Payloads are left out of it: each is read when its event is shown.
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
select edge.id as "lookedUpTo", page.*
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

/** With a tenant given, another tenant's event is not found. */
export async function findEvent(db: Queryable, id: Uuid, tenant: string | null): Promise<Event | null> {
  const [row] = await db.query<EventRow>(findStatement, [id, tenant]);
  return row === undefined ? null : toEvent(row);
}

const findStatement = statement(
  "find event",
  `
select ${eventColumns}
from posthorn.events e
where e.id = $1::uuid
  and ($2::text is null or e.tenant = $2::text)
`,
);
