// WebSub subscriptions, in the store's schema.
import {
  MAX_DOUBLINGS,
  type Subscription,
  type SubscriptionMode,
  type SubscriptionStore,
} from "../../websub/subscription.ts";
import type { Query, Row, Value } from "./database.ts";
import { inSchema } from "./migrations.ts";
import { text } from "./rows.ts";

export function subscriptionsIn(schema: string, query: Query): SubscriptionStore {
  const execute = (statement: string, values: Value[]) => query(inSchema(statement, schema), values);
  const one = async (statement: string, values: Value[]): Promise<Subscription | null> => {
    const [row] = await execute(statement, values);
    return row === undefined ? null : subscriptionOf(row);
  };

  return {
    async open({ id, url, secret }) {
      await execute(openStatement, [id, url, secret]);
      return (await one(`${selectStatement} where s.url = $1::text`, [url])) as Subscription;
    },
    find: (id) => one(`${selectStatement} where s.id = $1::text`, [id]),
    list: async ({ limit, after = "" }) => (await execute(listStatement, [limit, after])).map(subscriptionOf),
    close: (url) => one(closeStatement, [url]),
    async claimDue({ limit, id = null, firstDelayMs, maxDelayMs }) {
      const rows = await execute(claimDueStatement, [limit, id, firstDelayMs, maxDelayMs, MAX_DOUBLINGS]);
      return rows.map(subscriptionOf);
    },
    recordRequest: async (id, mode, { topic, hub }) =>
      (await execute(requestStatement, [id, mode, topic, hub])).length > 0,
    async fail(id, error) {
      const statement = "update posthorn_receiver.subscriptions set error = $2::text where id = $1::text";
      await execute(statement, [id, text(error)]);
    },
    confirm: (id, topic, { leaseMs, renewAfterMs, graceMs }) =>
      one(confirmStatement, [id, text(topic), leaseMs, renewAfterMs, graceMs]),
    end: async (id, topic) => (await execute(endStatement, [id, text(topic)])).length > 0,
    deny: (id, topic, reason) => one(denyStatement, [id, text(topic), text(reason)]),
    async forget(id) {
      await execute("delete from posthorn_receiver.subscriptions where id = $1::text", [id]);
    },
  };
}

function subscriptionOf(row: Row): Subscription {
  const requested = hubTopicOf(row.requestedtopic, row.requestedhub);
  const verified = hubTopicOf(row.topic, row.hub);
  return {
    id: row.id as string,
    url: row.url as string,
    secret: row.secret as string,
    mode: row.mode as SubscriptionMode,
    requested,
    verified: verified && { ...verified, leaseEndsAt: new Date(Number(row.leaseends)) },
    denied: row.denied as string | null,
    attempts: Number(row.attempts),
    error: row.error as string | null,
  };
}

function hubTopicOf(topic: unknown, hub: unknown): { topic: string; hub: string } | null {
  return topic === null ? null : { topic: topic as string, hub: hub as string };
}

const columns = `
  s.id, s.url, s.secret, s.mode, s.requested_topic as requestedtopic, s.requested_hub as requestedhub, s.topic, s.hub,
  extract(epoch from s.lease_ends_at)::double precision * 1000 as leaseends, s.denied, s.attempts, s.error
`;

const openStatement = `
insert into posthorn_receiver.subscriptions as s (id, url, secret)
values ($1::text, $2::text, $3::text)
on conflict (url) do update
set mode = 'subscribe',
    denied = null,
    due_at = now(),
    attempts = 0,
    error = null
where s.mode <> 'subscribe'
   or s.denied is not null
`;

const selectStatement = `
select ${columns}
from posthorn_receiver.subscriptions s`;

const listStatement = `
${selectStatement}
where s.url collate "C" > $2::text
order by s.url collate "C"
limit $1::integer
`;

const closeStatement = `
update posthorn_receiver.subscriptions s
set mode = 'unsubscribe',
    due_at = now(),
    attempts = 0,
    error = null
where s.url = $1::text
returning ${columns}
`;

// An array, so that each row is locked once, and rows of other processes are skipped.
const claimDueStatement = `
update posthorn_receiver.subscriptions s
set attempts = s.attempts + 1,
    due_at = now() + interval '1 millisecond' * least(
      $4::double precision,
      $3::double precision * power(2::double precision, least(s.attempts, $5::integer))
    )
where s.id = any (array (
  select d.id
  from posthorn_receiver.subscriptions d
  where d.due_at <= now()
    and ($2::text is null or d.id = $2::text)
  order by d.due_at
  limit $1::integer
  for update skip locked
))
returning ${columns}
`;

const requestStatement = `
update posthorn_receiver.subscriptions s
set requested_topic = $3::text,
    requested_hub = $4::text,
    confirmed_at = null
where s.id = $1::text
  and s.mode = $2::text
returning s.id
`;

const confirmStatement = `
update posthorn_receiver.subscriptions s
set topic = s.requested_topic,
    hub = s.requested_hub,
    lease_ends_at = now() + $3::double precision * interval '1 millisecond',
    due_at = now() + $4::double precision * interval '1 millisecond',
    confirmed_at = coalesce(s.confirmed_at, now()),
    attempts = 0,
    error = null
where s.id = $1::text
  and s.mode = 'subscribe'
  and s.requested_topic = $2::text
  and (s.confirmed_at is null or s.confirmed_at > now() - $5::double precision * interval '1 millisecond')
returning ${columns}
`;

const endStatement = `
delete from posthorn_receiver.subscriptions s
where s.id = $1::text
  and s.mode = 'unsubscribe'
  and s.requested_topic = $2::text
returning s.id
`;

const denyStatement = `
update posthorn_receiver.subscriptions s
set denied = $3::text,
    requested_topic = null,
    requested_hub = null,
    topic = null,
    hub = null,
    lease_ends_at = null,
    due_at = null
where s.id = $1::text
  and s.mode = 'subscribe'
  and (s.requested_topic = $2::text or s.topic = $2::text)
returning ${columns}
`;
