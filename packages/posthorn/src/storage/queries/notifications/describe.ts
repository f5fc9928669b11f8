// Reads the content of a notification at the time it is sent.
import type { AttemptError, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface DisabledEndpoint {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly tenantName: string | null;
  readonly url: string;
  readonly description: string | null;
  readonly reason: string;
  readonly disabledMs: number;
  /** Queued deliveries, counted up to the given limit. */
  readonly backlog: number;
  readonly lastFailure: { readonly statusCode: number | null; readonly error: AttemptError | null } | null;
}

/** Returns null if the endpoint was enabled or deleted meanwhile. */
export async function describeNotification(
  db: Queryable,
  notificationId: Uuid,
  maxBacklog: number,
): Promise<DisabledEndpoint | null> {
  const [row] = await db.query<DisabledEndpoint>(describeStatement, [notificationId, maxBacklog]);
  return row ?? null;
}

// disabled_at is null while it is active, which equals nothing. The last failure is searched among the deliveries that
// ended last and those retried last: bounded, and almost always the last one.
const describeStatement = statement(
  "describe notification",
  `
select
  ep.id as "endpointId",
  ep.tenant,
  t.name as "tenantName",
  ep.url,
  ep.description,
  ep.disabled_reason as reason,
  posthorn.epoch_ms(ep.disabled_at) as "disabledMs",
  (
    select count(*)::integer
    from (
      select
      from posthorn.queue q
      where q.endpoint_id = ep.id
        and q.claimed_by is null
      limit $2::integer
    ) queued
  ) as backlog,
  (
    select json_build_object('statusCode', a.status_code, 'error', a.error)
    from posthorn.attempts a
    where a.delivery_id = any (array(
        select recent.id
        from (
          (
            select d.id
            from posthorn.deliveries d
            where d.endpoint_id = ep.id
              and d.state = 'dead'
            order by d.id desc
            limit 20
          )
          union all
          (
            select q.id
            from posthorn.queue q
            where q.endpoint_id = ep.id
              and q.claimed_by is null
            order by q.next_at desc
            limit 20
          )
        ) recent
      ))
      and a.started_at <= ep.disabled_at
      and a.status_code between 200 and 299 is not true
    order by a.started_at desc
    limit 1
  ) as "lastFailure"
from posthorn.notifications n
join posthorn.endpoints ep on ep.id = n.endpoint_id
join posthorn.tenants t on t.id = ep.tenant
where n.id = $1::uuid
  and ep.disabled_at = n.disabled_at
  and ep.deleted_at is null
`,
);
