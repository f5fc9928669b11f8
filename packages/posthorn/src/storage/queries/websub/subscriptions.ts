// Subscriptions are endpoints with a topic. Writers hold the tenant's row.
import type { PayloadFormat, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { fields, firstRow, onlyRow, rows, run } from "../../query.ts";
import { insertLane } from "../endpoints/write.ts";

export interface SubscriptionRow {
  readonly id: Uuid;
  readonly tenant: string;
  readonly topic: string;
  readonly callback: string;
  readonly pairHex: string;
  readonly host: string;
  readonly eventType: string;
}

const subscriptionColumns = `ep.id, ep.tenant, ep.websub_topic as topic, ep.url as callback,
  encode(ep.websub_pair, 'hex') as "pairHex", ep.websub_host as host, ep.events[1] as "eventType"`;

export const findSubscription = firstRow<SubscriptionRow, [pair: Buffer]>("find websub subscription")`
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.websub_pair = $1::bytea
  and ep.deleted_at is null
`;

export interface NewSubscription {
  readonly id: Uuid;
  readonly tenant: string;
  readonly eventType: string;
  readonly format: PayloadFormat;
  readonly topic: string;
  readonly callback: string;
  readonly pair: Buffer;
  readonly host: string;
  readonly leaseEndsAt: Date;
}

/** Creates the endpoint and its lane. Responses other than 2xx and 410 are retried (REC 7.1). */
export async function insertSubscription(tx: Queryable, subscription: NewSubscription): Promise<void> {
  await insert(tx, subscription);
  await insertLane(tx, subscription.id);
}

const insert = run<[NewSubscription]>(
  "insert websub subscription",
  fields("id", "tenant", "callback", "eventType", "topic", "pair", "host", "leaseEndsAt", "format"),
)`
insert into posthorn.endpoints (
  id, tenant, url, events, format, retry_on, websub_topic, websub_pair, websub_host, lease_ends_at
)
values (
  $1::uuid, $2::text, $3::text, array[$4::text], $9::text, 'every', $5::text, $6::bytea, $7::text, $8::timestamptz
)
`;

export const renewSubscription = run<[Pick<NewSubscription, "id" | "callback" | "topic" | "leaseEndsAt">]>(
  "renew websub subscription",
  fields("id", "callback", "topic", "leaseEndsAt"),
)`
update posthorn.endpoints
set url = $2::text,
  websub_topic = $3::text,
  lease_ends_at = $4::timestamptz,
  version = version + 1,
  updated_at = posthorn.now()
where id = $1::uuid
`;

/** Lists a tenant's subscriptions, whose types may no longer be public. */
export const subscriptionsOfTenant = rows<SubscriptionRow, [tenant: string]>(
  "websub subscriptions of tenant",
)`
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ep.websub_topic is not null
  and ep.deleted_at is null
order by ep.id
`;

/**
 * Lists expired subscriptions after a short grace period, so that a renewal in the last second keeps their deliveries.
 */
export const endedSubscriptions = rows<SubscriptionRow, [graceMs: number, limit: number]>(
  "ended websub subscriptions",
)`
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.lease_ends_at < posthorn.now() - $1::double precision * interval '1 millisecond'
  and ep.deleted_at is null
order by ep.lease_ends_at
limit $2::integer
`;

export interface SubscriptionCounts {
  readonly perHost: number;
  /** Subscriptions of a domain and all its subdomains. */
  readonly perDomain: number;
  readonly total: number;
}

export const countSubscriptions = onlyRow<SubscriptionCounts, [host: string, domain: string]>(
  "count websub subscriptions",
)`
select
  count(*) filter (where ep.websub_host = $1::text)::integer as "perHost",
  count(*) filter (
    where right('.' || rtrim(ep.websub_host, '.'), length($2::text) + 1) = '.' || $2::text
  )::integer as "perDomain",
  count(*)::integer as total
from posthorn.endpoints ep
where ep.websub_host is not null
  and ep.deleted_at is null
`;

/** Locks the counts, so that subscriptions are created one at a time. */
export const lockCounts = run(
  "lock websub counts",
)`select pg_advisory_xact_lock(hashtext('posthorn websub counts'))`;
