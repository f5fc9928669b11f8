// The data for measuring lists: finished deliveries and 30 % as many queued ones over thirty days. A page has the same
// number of rows at every scale where possible (at least fifty finished deliveries per tenant, a hundred in flight,
// thirteen events of the rare type and subject), so that ratios show the cost of finding rows.
import type pg from "pg";

/** A tenant of typical size, and the one with half of the backlog, half of which has failed before. */
export const typical = "t5";
export const backlogged = "t3";
export const rare = { type: "rare.type", subject: "rare-subject" };

export async function fillLists(sql: pg.Client, count: number): Promise<void> {
  const numbers = { count, total: count * 1.3, tenants: Math.min(1_000, count / 50) };
  for (const text of fillTexts)
    await sql.query(
      text.replace(/:(count|total|tenants)\b/g, (_, name: keyof typeof numbers) => String(numbers[name])),
    );
}

/** Returns the endpoint with all deliveries of a tenant; the tenant's other endpoint has none. */
export async function endpointOf(sql: pg.Client, tenant: string): Promise<string> {
  const { rows } = await sql.query<{ id: string }>(
    "select min(id::text) as id from posthorn.endpoints where tenant = $1",
    [tenant],
  );
  return `ep_${rows[0]?.id}`;
}

const fillTexts = [
  "select posthorn.ensure_partitions(current_date - 30, current_date + 1)",
  "insert into posthorn.tenants (id) select 't' || n from generate_series(0, :tenants - 1) n",
  `insert into posthorn.endpoints (id, tenant, url, events)
   select posthorn.uuidv7(now() - interval '40 days'), 't' || n / 2, 'https://hooks.example/in', '{*}'
   from generate_series(0, :tenants * 2 - 1) n`,
  "insert into posthorn.lanes (endpoint_id, paused) select id, true from posthorn.endpoints",
  // the worker that holds the deliveries in flight
  `insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name) values (now() + interval '1 day', false, 'another')`,
  `create table public.generated as
   select numbered.*, ep.id as endpoint_id
   from (
     select n, posthorn.uuidv7(now() - interval '30 days' + n * interval '30 days' / :total) as id,
       case when n > :count and n % 2 = 0 then '${backlogged}' else 't' || (n::bigint * 7919) % :tenants end as tenant
     from generate_series(1, :total) n
   ) numbered
   join (select tenant, min(id::text)::uuid as id from posthorn.endpoints group by tenant) ep on ep.tenant = numbered.tenant`,
  `insert into posthorn.events (id, tenant, type, api_version, subject, payload)
   select id, tenant,
     case when n % (:count / 10) = 7 then '${rare.type}' when n % 10 = 0 then 'order.refunded' else 'order.paid' end, '1',
     case when n % (:count / 10) = 8 then '${rare.subject}' when n % 3 = 0 then 'order-' || n / 30 end, '{"a":1}'
   from public.generated
   order by n`,
  // deliveries use their event's id, because only its time matters here
  `insert into posthorn.deliveries (
     id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at, started_at, duration_ms, status_code,
     worker
   )
   select id, id, endpoint_id, case when n % 50 = 0 then 'dead' else 'success' end,
     case when n % (:count / 4) = 0 then 'gone' when n % 50 = 0 then 'rejected' end, 1, 0, now(),
     case when n % 50 > 0 then now() end, 5, 200, 1
   from public.generated
   where n <= :count
   order by n`,
  `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by, attempts, failures, trigger)
   select id, id, endpoint_id, now() + (n % 7200 - 3600) * interval '1 second', now(),
     case when n % ((:total - :count) / 100) = 1 then 1 end, has_failed::integer, has_failed::integer,
     case when has_failed then 'retry' else 'event' end
   from public.generated
   cross join lateral (select n % 4 = 0 or n % 20 = 1) of_it (has_failed)
   where n > :count
   order by n`,
  `insert into posthorn.attempt_log (delivery_id, number, started_at, duration_ms, status_code, trigger, worker)
   select id, 1, now(), 5, 500, 'event', 1
   from posthorn.delivery_states
   where attempts > 0
     and state <> 'success'
   order by id`,
  "vacuum (analyze)",
];
