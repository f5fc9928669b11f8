// Walks deliveries in the order of their ids, in either direction: for a page of a list, a step of a replay or a count.
// The text is built from the conditions, so that only tables that can hold such a delivery are read.
// A filter without an index (a rare type, failed deliveries) would make the database examine everything. So each source
// examines a limited number of rows, and the result has the last row examined; continuing from there misses nothing.
import type { Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { value } from "../../query.ts";
import { type Statement, statement } from "../../sql.ts";
import { type DeliveryRow, type DeliveryState, deliveryColumns } from "./read.ts";
import { type ListQuery, type Source, sourcesFor } from "./sources.ts";

export interface DeliveryWalk {
  /** Exclusive, like `before`. */
  readonly after: Uuid;
  readonly before: Uuid;
  readonly direction: "newest_first" | "oldest_first";
  readonly limit: number;
  /** A filter that is null or left out matches everything. */
  readonly endpointIds?: readonly Uuid[] | null;
  readonly states?: readonly DeliveryState[] | null;
  readonly type?: string | null;
  readonly deadReason?: string | null;
  /** Only deliveries that ended by then or are unfinished. */
  readonly endedByMs?: number | null;
  /** Only deliveries with at least one attempt. */
  readonly onlyAttempted?: boolean;
}

export interface WalkedDeliveries {
  readonly rows: readonly DeliveryRow[];
  /** Rows after this one were not examined. Null: all were, or the page is full. */
  readonly examinedUpTo: Uuid | null;
}

/** Rows to examine. Limits a page to 30 ms and a count to a few hundred. With a type, each row's event is looked up. */
const EXAMINE_AT_MOST = { page: 5_000, count: 100_000 };
const EXAMINE_AT_MOST_WITH_TYPE = { page: 1_000, count: 10_000 };

export async function walkDeliveries(db: Queryable, walk: DeliveryWalk): Promise<WalkedDeliveries> {
  if (walk.endpointIds?.length === 0) return { rows: [], examinedUpTo: null };
  const { text, values } = await prepare(db, walk, "page");
  const found = await db.query<DeliveryRow & { examinedUpTo: Uuid | null }>(
    walkStatement(text, walk.direction),
    values,
  );
  // there is always one row, which carries how far the walk got
  const rows = found.filter(({ id }) => id !== null);
  return { rows, examinedUpTo: rows.length === walk.limit ? null : (found[0]?.examinedUpTo ?? null) };
}

/** Counts up to `walk.limit`. `isExact` is false if there are more, or more than a count may examine. */
export async function countDeliveries(
  db: Queryable,
  walk: DeliveryWalk,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  if (walk.endpointIds?.length === 0) return { count: 0, isExact: true };
  const { text, values } = await prepare(db, walk, "count");
  const [row] = await db.query<{ count: number; isExact: boolean }>(countStatement(text), values);
  return row ?? { count: 0, isExact: true };
}

async function prepare(db: Queryable, walk: DeliveryWalk, purpose: "page" | "count") {
  const values: unknown[] = [walk.after, walk.before, walk.limit];
  const bind = (value: unknown) => (value == null ? null : `$${values.push(value)}`);
  const { endpointIds, states = null, direction } = walk;
  const query: ListQuery = {
    direction: direction === "newest_first" ? "desc" : "asc",
    examineAtMost: (walk.type == null ? EXAMINE_AT_MOST : EXAMINE_AT_MOST_WITH_TYPE)[purpose],
    states,
    endpoints: bind(endpointIds && uuidArray(endpointIds)),
    spread: await spreadOf(db, walk),
    stateArray: bind(states && textArray(states)),
    type: bind(walk.type),
    deadReason: bind(walk.deadReason),
    endedByMs: bind(walk.endedByMs),
    onlyAttempted: walk.onlyAttempted ?? false,
  };
  return { text: foundText(sourcesFor(query), query.direction), values };
}

/** Beyond this number endpoints are not looked up one by one: each costs a lookup in every partition. */
const MOST_ENDPOINTS_APART = 50;
/** Up to this number, queued rows are all read and sorted: 5 ms. With more, a scan of the queue soon fills a page. */
const MOST_WAITING_SORTED = 3_000;

async function spreadOf(db: Queryable, { endpointIds }: DeliveryWalk): Promise<ListQuery["spread"]> {
  if (endpointIds == null || endpointIds.length > MOST_ENDPOINTS_APART) return "anywhere";
  return (await isBacklogged(db, endpointIds, MOST_WAITING_SORTED)) ? "backlogged" : "apart";
}

const isBacklogged = value<boolean, [endpointIds: readonly Uuid[], most: number]>({
  name: "is backlogged",
  replansEachTime: true,
})`
select count(*) > $2::integer as is_backlogged
from (
  select
  from posthorn.queue q
  where q.claimed_by is null
    and q.endpoint_id = any ($1::uuid[])
  limit $2::integer + 1
) waiting
`;

/** The rows of each source up to `edge`, where the first source stopped. */
function foundText(sources: readonly Source[], direction: ListQuery["direction"]): string {
  return `
with ${sources.map(({ name, text }) => `${name} as materialized (${text}\n)`).join(",\n")},
piece as materialized (
  ${sources.map(({ name }) => `select * from ${name}`).join(" union all ")}
),
edge as materialized (
  select (select piece.id from piece where piece.is_edge order by piece.id ${direction} limit 1) as id
),
found as (
  select piece.*
  from piece
  cross join edge
  where not piece.is_edge
    and (edge.id is null or piece.id ${direction === "desc" ? ">=" : "<="} edge.id)
  order by piece.id ${direction}
  limit $3::integer
)`;
}

function walkStatement(text: string, direction: DeliveryWalk["direction"]): Statement {
  // events are joined to the page only
  return statement({ name: "walk deliveries", replansEachTime: true })`${text}
select edge.id as "examinedUpTo", ${deliveryColumns}
from edge
left join (found d join posthorn.events e on e.id = d.event_id) on true
order by d.id ${direction === "newest_first" ? "desc" : "asc"}
`;
}

function countStatement(text: string): Statement {
  return statement({ name: "count deliveries", replansEachTime: true })`${text}
select count(*)::integer as count, count(*) < $3::integer and (select edge.id is null from edge) as "isExact"
from found
`;
}
