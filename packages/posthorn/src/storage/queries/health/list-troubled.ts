// Lists failing endpoints, longest first. Healthy endpoints have no row, so only failing ones are read.
import type { Uuid } from "../../../model.ts";
import { rows } from "../../query.ts";

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
export const listOpenCircuits = rows<TroubledRow, [limit: number]>(
  "list open circuits",
)`${ill("h.probe_at is not null")}`;

/** Lists active endpoints that have failed since their last success. */
export const listFailing = rows<TroubledRow, [limit: number]>(
  "list failing endpoints",
)`${ill("h.consecutive_failures > 0")}`;

/** Lists endpoints that were disabled after failures. */
// uses the index endpoints_disabled, which has the same condition
export const listDisabled = rows<TroubledRow, [limit: number]>("list disabled endpoints")`
select ${columns("ep.disabled_at", "ep.disabled_reason")}
from posthorn.endpoints ep
left join posthorn.endpoint_health h on h.endpoint_id = ep.id
where not ep.is_active
  and ep.deleted_at is null
  and ep.disabled_reason <> 'manual'
order by ep.disabled_at, ep.id
limit $1::integer
`;
