// A page of events, newest first. Which conditions there are is part of the text, so that each combination has a plan
// of its own: by tenant along its index, otherwise along the primary key.
import type { Event, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EventRow, eventColumns, toEvent } from "./event-row.ts";

export interface EventFilter {
  readonly notBefore: Uuid;
  readonly before: Uuid;
  readonly limit: number;
  readonly tenant: string | null;
  readonly type: string | null;
  readonly subject: string | null;
}

export async function listEvents(db: Queryable, filter: EventFilter): Promise<Event[]> {
  const { notBefore, before, limit, tenant, type, subject } = filter;
  const given = Object.entries({ tenant, type, subject }).filter(([, value]) => value !== null);
  const rows = await db.query<EventRow>(listStatement(given.map(([column]) => column)), [
    notBefore,
    before,
    limit,
    ...given.map(([, value]) => value),
  ]);
  return rows.map(toEvent);
}

function listStatement(columns: readonly string[]) {
  return statement(
    ["list events", ...columns].join(" "),
    `
select ${eventColumns}
from posthorn.events e
where e.id >= $1::uuid
  and e.id < $2::uuid
  ${columns.map((column, index) => `and e.${column} = $${index + 4}::text`).join("\n  ")}
order by e.id desc
limit $3::integer
`,
  );
}

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
