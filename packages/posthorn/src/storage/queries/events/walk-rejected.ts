// Walks rejected events that wait for a decision, oldest first: a step of a release or discard by filter, or a count. Only
// the index gives the order, so a step examines a limited number of them, whether they match or not.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface RejectedWalk {
  /** Exclusive. */
  readonly after: Uuid;
  /** Exclusive. */
  readonly before: Uuid;
  /** How many rejections are examined. */
  readonly limit: number;
  /** A filter that is null matches everything. */
  readonly tenant: string | null;
  readonly type: string | null;
  readonly subject: string | null;
  /** Only events that were rejected by then. */
  readonly rejectedByMs: number;
  /** Leaves events that were too large to be read, which have no data. */
  readonly onlyWithData: boolean;
}

export interface WalkedRejected {
  readonly ids: readonly Uuid[];
  /** Events after this one were not examined. Null: all were. */
  readonly examinedUpTo: Uuid | null;
}

export async function walkRejected(db: Queryable, walk: RejectedWalk): Promise<WalkedRejected> {
  const found = await db.query<{ id: Uuid | null; examinedUpTo: Uuid | null }>(
    walk.tenant === null ? idsOfAll : idsOfTenant,
    values(walk),
  );
  // there is always one row, which carries how far the walk got
  const ids = found.flatMap(({ id }) => (id === null ? [] : id));
  return { ids, examinedUpTo: found[0]?.examinedUpTo ?? null };
}

/** `isExact` is false if there are more than `walk.limit` to examine. */
export async function countRejected(
  db: Queryable,
  walk: RejectedWalk,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  const [row] = await db.query<{ count: number; isExact: boolean }>(
    walk.tenant === null ? countOfAll : countOfTenant,
    values(walk),
  );
  return row ?? { count: 0, isExact: true };
}

function values(walk: RejectedWalk) {
  const { after, before, limit, tenant, type, subject, rejectedByMs, onlyWithData } = walk;
  return [
    after,
    before,
    limit,
    rejectedByMs,
    type,
    subject,
    onlyWithData,
    ...(tenant === null ? [] : [tenant]),
  ];
}

const ofAll = `
  where r.discarded_at is null
    and r.event_id > $1::uuid
    and r.event_id < $2::uuid
  order by r.event_id
`;

// a range of the pair, as in the list of events
const ofTenant = `
  where r.discarded_at is null
    and (r.tenant, r.event_id) > ($8::text, $1::uuid)
    and (r.tenant, r.event_id) < ($8::text, $2::uuid)
  order by r.tenant, r.event_id
`;

const examined = (source: string) => `
with examined as materialized (
  select r.event_id, r.rejected_at, r.code
  from posthorn.rejected_events r
${source}
  limit (select $3::integer)
),
matching as (
  select e.id
  from examined
  join posthorn.events e on e.id = examined.event_id
  where examined.rejected_at <= to_timestamp($4::double precision / 1000)
    and ($5::text is null or e.type = $5::text)
    and ($6::text is null or e.subject = $6::text)
    and not ($7::boolean and examined.code = 'payload_too_large')
)
`;

const idsText = (source: string) => `
${examined(source)}
select edge.id as "examinedUpTo", matching.id
from (
  select (
    select examined.event_id
    from examined
    where (select count(*) from examined) = $3::integer
    order by examined.event_id desc
    limit 1
  ) as id
) edge
left join matching on true
order by matching.id
`;

const countText = (source: string) => `
${examined(source)}
select (select count(*) from matching)::integer as count,
  (select count(*) from examined) < $3::integer as "isExact"
`;

const idsOfAll = statement("walk rejected events")`${idsText(ofAll)}`;
const idsOfTenant = statement("walk rejected events tenant")`${idsText(ofTenant)}`;
const countOfAll = statement("count rejected events")`${countText(ofAll)}`;
const countOfTenant = statement("count rejected events tenant")`${countText(ofTenant)}`;
