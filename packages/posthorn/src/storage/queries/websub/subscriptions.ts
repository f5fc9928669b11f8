// Subscriptions are endpoints with a topic. Writers hold the tenant's row.
import type { PayloadFormat, Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

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

export async function findSubscription(db: Queryable, pair: Buffer): Promise<SubscriptionRow | null> {
  const [row] = await db.query<SubscriptionRow>(findStatement, [pair]);
  return row ?? null;
}

const findStatement = statement(
  "find websub subscription",
  `
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.websub_pair = $1::bytea
  and ep.deleted_at is null
`,
);

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
  const { id, tenant, eventType, format, topic, callback, pair, host, leaseEndsAt } = subscription;
  await tx.query(insertStatement, [
    id,
    tenant,
    callback,
    textArray([eventType]),
    topic,
    pair,
    host,
    leaseEndsAt,
    format,
  ]);
  await tx.query(insertLaneStatement, [id]);
}

const insertStatement = statement(
  "insert websub subscription",
  `
insert into posthorn.endpoints (
  id, tenant, url, events, format, retry_on, websub_topic, websub_pair, websub_host, lease_ends_at
)
values (
  $1::uuid, $2::text, $3::text, $4::text[], $9::text, 'every', $5::text, $6::bytea, $7::text, $8::timestamptz
)
`,
);

const insertLaneStatement = statement(
  "insert lane of subscription",
  "insert into posthorn.lanes (endpoint_id) values ($1::uuid)",
);

export async function renewSubscription(
  tx: Queryable,
  { id, callback, topic, leaseEndsAt }: Pick<NewSubscription, "id" | "callback" | "topic" | "leaseEndsAt">,
): Promise<void> {
  await tx.query(renewStatement, [id, callback, topic, leaseEndsAt]);
}

const renewStatement = statement(
  "renew websub subscription",
  `
update posthorn.endpoints
set url = $2::text,
  websub_topic = $3::text,
  lease_ends_at = $4::timestamptz,
  version = version + 1,
  updated_at = posthorn.now()
where id = $1::uuid
`,
);

/** Returns null if the endpoint is not a subscription. */
export async function subscriptionOf(db: Queryable, endpointId: Uuid): Promise<SubscriptionRow | null> {
  const [row] = await db.query<SubscriptionRow>(ofEndpointStatement, [endpointId]);
  return row ?? null;
}

const ofEndpointStatement = statement(
  "websub subscription of endpoint",
  `
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.id = $1::uuid
  and ep.websub_topic is not null
  and ep.deleted_at is null
`,
);

/** Lists a tenant's subscriptions, whose types may no longer be public. */
export async function subscriptionsOfTenant(db: Queryable, tenant: string): Promise<SubscriptionRow[]> {
  return await db.query<SubscriptionRow>(ofTenantStatement, [tenant]);
}

const ofTenantStatement = statement(
  "websub subscriptions of tenant",
  `
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ep.websub_topic is not null
  and ep.deleted_at is null
order by ep.id
`,
);

/**
 * Lists expired subscriptions after a short grace period, so that a renewal in the last second keeps their deliveries.
 */
export async function endedSubscriptions(
  db: Queryable,
  graceMs: number,
  limit: number,
): Promise<SubscriptionRow[]> {
  return await db.query<SubscriptionRow>(endedStatement, [graceMs, limit]);
}

const endedStatement = statement(
  "ended websub subscriptions",
  `
select ${subscriptionColumns}
from posthorn.endpoints ep
where ep.lease_ends_at < posthorn.now() - $1::double precision * interval '1 millisecond'
  and ep.deleted_at is null
order by ep.lease_ends_at
limit $2::integer
`,
);

export interface SubscriptionCounts {
  readonly ofHost: number;
  /** Subscriptions of a domain and all its subdomains. */
  readonly ofFamily: number;
  readonly inAll: number;
}

export async function countSubscriptions(
  db: Queryable,
  host: string,
  family: string,
): Promise<SubscriptionCounts> {
  const [row] = await db.query<SubscriptionCounts>(countStatement, [host, family]);
  return row as SubscriptionCounts;
}

const countStatement = statement(
  "count websub subscriptions",
  `
select
  count(*) filter (where ep.websub_host = $1::text)::integer as "ofHost",
  count(*) filter (
    where right('.' || rtrim(ep.websub_host, '.'), length($2::text) + 1) = '.' || $2::text
  )::integer as "ofFamily",
  count(*)::integer as "inAll"
from posthorn.endpoints ep
where ep.websub_host is not null
  and ep.deleted_at is null
`,
);

/** Locks the counts, so that subscriptions are created one at a time. */
export async function lockCounts(tx: Queryable): Promise<void> {
  await tx.query(holdStatement);
}

const holdStatement = statement(
  "lock websub counts",
  "select pg_advisory_xact_lock(hashtext('posthorn websub counts'))",
);
