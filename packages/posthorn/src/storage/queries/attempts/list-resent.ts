// Lists manual attempts and replays, newest first. The condition on the trigger must match that of the index
// attempts_resent.
import type { AttemptTrigger, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface ResendFilter {
  readonly notBefore: Date;
  /** The last row of the previous page. */
  readonly before: { readonly startedUs: string; readonly deliveryId: Uuid } | null;
  readonly limit: number;
  readonly tenant: string | null;
  readonly type: string | null;
}

export interface ResendRow {
  readonly deliveryId: Uuid;
  readonly eventId: Uuid;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly eventType: string;
  readonly attempt: number;
  readonly trigger: AttemptTrigger;
  readonly startedMs: number;
  /** Microseconds, as text. */
  readonly startedUs: string;
}

export async function listResent(db: Queryable, filter: ResendFilter): Promise<ResendRow[]> {
  const { notBefore, before, limit, tenant, type } = filter;
  const values: unknown[] = [notBefore, limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = {
    before:
      before &&
      `and (a.started_at, a.delivery_id) < (timestamptz 'epoch' + ${bind(before.startedUs)}::bigint * interval '1 microsecond', ${bind(before.deliveryId)}::uuid)`,
    tenant: tenant && `and e.tenant = ${bind(tenant)}::text`,
    type: type && `and e.type = ${bind(type)}::text`,
  };
  return await db.query<ResendRow>(listStatement(conditions), values);
}

function listStatement(conditions: Readonly<Record<string, string | null>>) {
  const asked = Object.entries(conditions).filter(([, condition]) => condition !== null);
  return statement(
    ["list resent", ...asked.map(([name]) => name)].join(" "),
    `
select
  a.delivery_id as "deliveryId",
  d.event_id as "eventId",
  d.endpoint_id as "endpointId",
  e.tenant,
  e.type as "eventType",
  a.number as attempt,
  a.trigger,
  posthorn.epoch_ms(a.started_at) as "startedMs",
  (extract(epoch from a.started_at) * 1000000)::bigint::text as "startedUs"
from posthorn.attempts a
join posthorn.delivery_states d on d.id = a.delivery_id
join posthorn.events e on e.id = d.event_id
where a.trigger in ('manual', 'replay')
  and a.started_at >= $1::timestamptz
  ${asked.map(([, condition]) => condition).join("\n  ")}
order by a.started_at desc, a.delivery_id desc
limit $2::integer
`,
  );
}
