// Writes, claims and settles notifications. One per channel is written in the transaction that disables an endpoint. If
// one was sent within the last hour, the next is sent when the hour is over, if the endpoint is still disabled then.
import type { AttemptError, Uuid } from "../../model.ts";
import { textArray } from "../binary-array.ts";
import { fields, firstRow, rows, run } from "../query.ts";

// Unsent notifications of earlier disablings are replaced.
export const writeNotifications = run<[endpointId: Uuid, channels: readonly string[]]>("write notifications")`
with outdated as (
  delete from posthorn.notifications n
  where n.endpoint_id = $1::uuid
    and n.channel = any ($2::text[])
    and n.attempts = 0
    and n.next_at is not null
)
insert into posthorn.notifications (channel, endpoint_id, disabled_at, next_at)
select
  wanted.channel,
  ep.id,
  ep.disabled_at,
  greatest(posthorn.now(), (
    select max(n.sent_at) + interval '1 hour'
    from posthorn.notifications n
    where n.endpoint_id = ep.id
      and n.channel = wanted.channel
  ))
from posthorn.endpoints ep
cross join unnest($2::text[]) as wanted (channel)
where ep.id = $1::uuid
`;

export interface ClaimedNotification {
  readonly id: Uuid;
  /** Including this one. */
  readonly attempts: number;
  readonly notified: readonly string[];
}

/**
 * Claims due notifications. No lock is held while one is sent: the due time is moved ahead, so that another process
 * sends it after a crash. The attempt is counted here, so that a crash cannot repeat forever.
 */
export const claimNotifications = rows<
  ClaimedNotification,
  [channel: string, { readonly limit: number; readonly leaseMs: number }]
>("claim notifications", (channel, { limit, leaseMs }) => [channel, limit, leaseMs])`
update posthorn.notifications n
set attempts = n.attempts + 1,
  next_at = posthorn.now() + $3::double precision * interval '1 millisecond'
where n.id = any (array(
    select due.id
    from posthorn.notifications due
    where due.channel = $1::text
      and due.next_at <= posthorn.now()
    order by due.next_at
    limit $2::integer
    for update skip locked
  ))
returning n.id, n.attempts, to_json(n.notified) as notified
`;

export interface NotificationResult {
  /** At least one recipient has received it. */
  readonly isSent: boolean;
  /** Addresses reached by this attempt. */
  readonly notified: readonly string[];
  readonly error: string | null;
  /** Null: sent or discarded. */
  readonly retryInMs: number | null;
}

/** Fenced by the number of attempts: a late sender does not overwrite a later attempt. */
export const settleNotification = run<[notification: ClaimedNotification, result: NotificationResult]>(
  "settle notification",
  (notification, result) => [
    notification.id,
    notification.attempts,
    textArray(result.notified),
    ...fields("error", "retryInMs", "isSent")(result),
  ],
)`
update posthorn.notifications n
set notified = n.notified || $3::text[],
  last_error = $4::text,
  sent_at = case when $6::boolean then posthorn.now() else n.sent_at end,
  next_at = posthorn.now() + $5::double precision * interval '1 millisecond'
where n.id = $1::uuid
  and n.attempts = $2::integer
`;

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
// disabled_at is null while it is active, which equals nothing. The last failure is searched among the deliveries that
// ended last and those retried last: bounded, and almost always the last one.
export const describeNotification = firstRow<DisabledEndpoint, [notificationId: Uuid, maxBacklog: number]>(
  "describe notification",
)`
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
    from posthorn.attempt_log a
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
`;
