// A page of deliveries, newest first. The text is put together from the conditions, so that only the tables that can
// hold such a delivery are read: asking for dead ones must not walk a backlog of a million owed rows.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { type Statement, statement } from "../../sql.ts";
import { type DeliveryRow, type DeliveryState, deliveryColumns } from "./delivery-row.ts";

export interface DeliveryFilter {
  readonly notBefore: Uuid;
  readonly before: Uuid;
  readonly limit: number;
  /** Null: of all endpoints. */
  readonly endpointIds: readonly Uuid[] | null;
  readonly state: DeliveryState | null;
  readonly type: string | null;
  readonly deadReason: string | null;
}

export async function listDeliveries(db: Queryable, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const values: unknown[] = [filter.notBefore, filter.before, filter.limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const parts: Parts = {
    state: filter.state,
    endpoints: filter.endpointIds === null ? null : bind(uuidArray(filter.endpointIds)),
    type: filter.type === null ? null : bind(filter.type),
    deadReason: filter.deadReason === null ? null : bind(filter.deadReason),
  };
  return await db.query<DeliveryRow>(listStatement(parts), values);
}

/** Where each condition's value is bound; null when it is not asked for. */
interface Parts {
  readonly state: DeliveryState | null;
  readonly endpoints: string | null;
  readonly type: string | null;
  readonly deadReason: string | null;
}

function listStatement(parts: Parts): Statement {
  const asked = Object.entries(parts).filter(([, part]) => part !== null);
  const name = ["list deliveries", ...asked.map(([key, part]) => (key === "state" ? part : key))].join(" ");
  const newest = `
select ${deliveryColumns}
from ${sources(parts).join(" union all ")} d
join posthorn.events e on e.id = d.event_id
where d.id >= $1::uuid
  and d.id < $2::uuid
  ${conditions(parts).join("\n  ")}
order by d.id desc
limit $3::integer
`;
  return statement(name, parts.endpoints === null ? newest : perEndpoint(newest, parts.endpoints));
}

// Each endpoint's newest along its own index, then the newest of those. One "endpoint_id = any (…)" would either sort
// all of a tenant's history or walk everybody's.
function perEndpoint(newest: string, endpoints: string): string {
  return `
select found.*
from unnest(${endpoints}::uuid[]) as asked (endpoint_id)
cross join lateral (${newest}) found
order by found.id desc
limit $3::integer
`;
}

function conditions(parts: Parts): string[] {
  return [
    ...(parts.endpoints === null ? [] : ["and d.endpoint_id = asked.endpoint_id"]),
    ...(parts.state === null ? [] : [`and d.state = '${parts.state}'`]),
    ...(parts.type === null ? [] : [`and e.type = ${parts.type}::text`]),
    ...(parts.deadReason === null ? [] : [`and d.dead_reason = ${parts.deadReason}::text`]),
  ];
}

// As the view posthorn.delivery_states has them, each by itself.
const owed = `
  select q.id, q.event_id, q.endpoint_id,
    case when q.claimed_by is not null then 'in_flight' when q.failures > 0 then 'failed' else 'pending' end as state,
    q.attempts,
    case when q.claimed_by is null and q.failures > 0 then q.next_at end as next_retry_at,
    null::text as dead_reason,
    q.replay_count,
    null::timestamptz as finished_at
  from posthorn.queue q
`;
const ended = `
  select h.id, h.event_id, h.endpoint_id, h.state, h.attempts, null::timestamptz as next_retry_at, h.dead_reason,
    h.replay_count, h.finished_at
  from posthorn.deliveries h
`;

function sources({ state, deadReason }: Parts): string[] {
  const isEnded = deadReason !== null || state === "dead" || state === "success";
  const isOwed = state === "pending" || state === "failed" || state === "in_flight";
  if (isEnded) return [`(${ended})`];
  return isOwed ? [`(${owed})`] : [`((${owed}) union all (${ended}))`];
}
