// Writes, claims and settles notifications, which are about one endpoint and sent by one channel.
import type { AttemptError, Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import { fields, firstRow, rows, run } from "../../query.ts";

export type NotificationKind = "disabled" | "circuit" | "dead";

export interface NewNotification {
  readonly endpointId: Uuid;
  readonly kind: NotificationKind;
  readonly channels: readonly string[];
  /** When it happened. Null: when the endpoint was disabled. */
  readonly sinceMs: number | null;
  /** Dead letters. */
  readonly count: number;
  readonly delayMs: number;
}

// One that is not sent yet is updated: dead letters are counted, and of other kinds only the last one is reported. If one
// of the kind was sent within the last hour, or is being sent, the next is sent when the hour is over.
export const writeNotifications = run<[notification: NewNotification]>(
  "write notifications",
  fields("endpointId", "kind", "channels", "sinceMs", "count", "delayMs"),
)`
insert into posthorn.notifications as n (kind, channel, endpoint_id, since, count, next_at)
select
  $2::text,
  wanted.channel,
  ep.id,
  coalesce(to_timestamp($4::double precision / 1000), ep.disabled_at),
  $5::integer,
  greatest(posthorn.now() + $6::double precision * interval '1 millisecond', (
    select max(coalesce(sent.sent_at, posthorn.now())) + interval '1 hour'
    from posthorn.notifications sent
    where sent.endpoint_id = ep.id
      and sent.kind = $2::text
      and sent.channel = wanted.channel
      and (sent.sent_at is not null or sent.attempts = 1 and sent.next_at is not null and sent.last_error is null)
  ))
from posthorn.endpoints ep
cross join unnest($3::text[]) as wanted (channel)
where ep.id = $1::uuid
on conflict (endpoint_id, kind, channel) where attempts = 0 and next_at is not null do update
set since = case when n.kind = 'dead' then n.since else excluded.since end,
  count = n.count + excluded.count,
  next_at = case when n.kind = 'dead' then n.next_at else excluded.next_at end
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

export interface Notice {
  readonly kind: NotificationKind;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly tenantName: string | null;
  readonly url: string;
  readonly description: string | null;
  /** When the endpoint was disabled, its circuit opened, or the first of these deliveries died. */
  readonly sinceMs: number;
  /** Dead letters since then. */
  readonly count: number;
  /** Why the endpoint is disabled. Null if it is not. */
  readonly disabledReason: string | null;
  /** Queued deliveries, counted up to the given limit. */
  readonly backlog: number;
  readonly lastFailure: { readonly statusCode: number | null; readonly error: AttemptError | null } | null;
}

/** Returns null if there is nothing to report any more: the endpoint was enabled or deleted, or its circuit closed. */
// disabled_at is null while it is active, which equals nothing. The last failure is searched among the deliveries that
// ended last and those retried last: bounded, and almost always the last one.
export const describeNotification = firstRow<Notice, [notificationId: Uuid, maxBacklog: number]>(
  "describe notification",
)`
select
  n.kind,
  ep.id as "endpointId",
  ep.tenant,
  t.name as "tenantName",
  ep.url,
  ep.description,
  posthorn.epoch_ms(n.since) as "sinceMs",
  n.count,
  ep.disabled_reason as "disabledReason",
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
      and a.started_at <= coalesce(ep.disabled_at, 'infinity')
      and a.status_code between 200 and 299 is not true
    order by a.started_at desc
    limit 1
  ) as "lastFailure"
from posthorn.notifications n
join posthorn.endpoints ep on ep.id = n.endpoint_id
join posthorn.tenants t on t.id = ep.tenant
where n.id = $1::uuid
  and ep.deleted_at is null
  and case n.kind
    when 'disabled' then ep.disabled_at = n.since
    when 'circuit' then ep.is_active and exists (
      select from posthorn.endpoint_health h where h.endpoint_id = ep.id and h.probe_at is not null
    )
    else true
  end
`;

/** Deletes an unsent notification of an open circuit that has recovered. */
export const withdrawCircuitNotification = run<[endpointId: Uuid]>("withdraw circuit notification")`
delete from posthorn.notifications n
where n.endpoint_id = $1::uuid
  and n.kind = 'circuit'
  and n.attempts = 0
  and n.next_at is not null
`;
