// Lists failing endpoints, longest first. Healthy endpoints have no row, so only failing ones are read.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface TroubledRow {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly sinceMs: number | null;
  readonly reason: string | null;
  readonly consecutiveFailures: number;
  readonly probeMs: number | null;
}

const columns = (since: string, reason: string): string => `
  ep.id as "endpointId",
  ep.tenant,
  posthorn.epoch_ms(${since}) as "sinceMs",
  ${reason} as reason,
  coalesce(h.consecutive_failures, 0) as "consecutiveFailures",
  posthorn.epoch_ms(h.probe_at) as "probeMs"`;

const ill = (condition: string): string => `
select ${columns("h.failing_since", "h.last_error")}
from posthorn.endpoint_health h
join posthorn.endpoints ep on ep.id = h.endpoint_id
where ep.deleted_at is null
  and ep.is_active
  and ${condition}
order by h.failing_since, ep.id
limit $1::integer
`;

/** Lists endpoints whose circuit is open or half-open. */
export async function listOpenCircuits(db: Queryable, limit: number): Promise<TroubledRow[]> {
  return await db.query<TroubledRow>(circuitsStatement, [limit]);
}

const circuitsStatement = statement("list open circuits", ill("h.probe_at is not null"));

/** Lists active endpoints that have failed since their last success. */
export async function listFailing(db: Queryable, limit: number): Promise<TroubledRow[]> {
  return await db.query<TroubledRow>(failingStatement, [limit]);
}

const failingStatement = statement("list failing endpoints", ill("h.consecutive_failures > 0"));

/** Lists endpoints that were disabled after failures. */
export async function listDisabled(db: Queryable, limit: number): Promise<TroubledRow[]> {
  return await db.query<TroubledRow>(disabledStatement, [limit]);
}

// uses the index endpoints_disabled, which has the same condition
const disabledStatement = statement(
  "list disabled endpoints",
  `
select ${columns("ep.disabled_at", "ep.disabled_reason")}
from posthorn.endpoints ep
left join posthorn.endpoint_health h on h.endpoint_id = ep.id
where not ep.is_active
  and ep.deleted_at is null
  and ep.disabled_reason <> 'manual'
order by ep.disabled_at, ep.id
limit $1::integer
`,
);
