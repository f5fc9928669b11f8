// What a page of a list costs among a million finished deliveries and a backlog, against one among a thousand. The rows
// are put there by SQL, spread over thirty days and a thousand tenants with two endpoints each.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn } from "posthorn";
import { medianNumber } from "./measure.ts";
import type { World } from "./world.ts";

export interface ListFigures {
  readonly title: string;
  readonly fewMs: number;
  readonly manyMs: number;
}

const few = 1_000;

/** `count` finished ones, and for ten of them three that are owed. */
export async function compareLists(world: World, count: number): Promise<ListFigures[]> {
  const fewMs = await measureLists(world, "lists_few", few);
  const manyMs = await measureLists(world, "lists_many", count);
  return [...pages.keys()].map((title) => ({
    title,
    fewMs: fewMs.get(title) as number,
    manyMs: manyMs.get(title) as number,
  }));
}

/** The tenant of all the others' size, and the one that is owed a quarter of the backlog. */
const calm = "t5";
const backlogged = "t3";

const pages: ReadonlyMap<string, (hooks: Posthorn) => Promise<unknown>> = new Map([
  ["all", ({ deliveries }) => deliveries.list()],
  ["success", ({ deliveries }) => deliveries.list({ state: "success" })],
  ["dead", ({ deliveries }) => deliveries.list({ state: "dead" })],
  ["dead, of a rare reason", ({ deliveries }) => deliveries.list({ reason: "gone" })],
  ["failed", ({ deliveries }) => deliveries.list({ state: "failed" })],
  ["pending", ({ deliveries }) => deliveries.list({ state: "pending" })],
  ["in flight", ({ deliveries }) => deliveries.list({ state: "in_flight" })],
  ["of a common type", ({ deliveries }) => deliveries.list({ type: "order.paid" })],
  ["of a rare type", ({ deliveries }) => deliveries.list({ type: "rare.type" })],
  ["dead, of a rare type", ({ deliveries }) => deliveries.list({ type: "rare.type", state: "dead" })],
  ["a tenant's", ({ deliveries }) => deliveries.list({ tenant: calm })],
  ["a tenant's dead", ({ deliveries }) => deliveries.list({ tenant: calm, state: "dead" })],
  ["a tenant's failed", ({ deliveries }) => deliveries.list({ tenant: calm, state: "failed" })],
  ["a tenant's in flight", ({ deliveries }) => deliveries.list({ tenant: calm, state: "in_flight" })],
  ["a tenant's, of a type", ({ deliveries }) => deliveries.list({ tenant: calm, type: "order.refunded" })],
  ["a tenant's with a backlog", ({ deliveries }) => deliveries.list({ tenant: backlogged })],
  ["the retry queue", ({ deliveries }) => deliveries.retryQueue()],
  ["a tenant's retry queue", ({ deliveries }) => deliveries.retryQueue({ tenant: backlogged })],
]);

const looks = 25;
/** The first ones plan the statement. */
const looksBefore = 10;

async function measureLists(world: World, name: string, count: number): Promise<Map<string, number>> {
  const url = await world.createDatabase(name);
  const encryptionKeys = `bench:${randomBytes(32).toString("base64")}`;
  const hooks = createPosthorn({ database: url, encryptionKeys });
  const medians = new Map<string, number>();
  try {
    await hooks.migrate();
    const sql = await world.connect(url);
    for (const text of fillTexts) await sql.query(text.replaceAll(":count", String(count)));
    // without workers: it takes direct connections and prepares its statements as a server does
    await hooks.start({ role: "api" });
    for (const [title, page] of pages) medians.set(title, await medianMs(() => page(hooks)));
  } finally {
    await hooks.stop();
  }
  return medians;
}

async function medianMs(look: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < looks; index += 1) {
    const startedAt = performance.now();
    await look();
    times.push(performance.now() - startedAt);
  }
  return medianNumber(times.slice(looksBefore));
}

const fillTexts = [
  "select posthorn.ensure_partitions(current_date - 30, current_date + 1)",
  "insert into posthorn.tenants (id) select 't' || n from generate_series(0, 999) n",
  `insert into posthorn.endpoints (id, tenant, url, events)
   select posthorn.uuidv7(now() - interval '40 days'), 't' || n / 2, 'https://hooks.example/in', '{*}'
   from generate_series(0, 1999) n`,
  "insert into posthorn.lanes (endpoint_id, paused) select id, true from posthorn.endpoints",
  `create table public.made as
   select n, posthorn.uuidv7(now() - interval '30 days' + n * interval '30 days' / (:count * 1.3)) as id,
     case when n > :count and n % 4 = 0 then '${backlogged}' else 't' || (n::bigint * 7919) % 1000 end as tenant
   from generate_series(1, (:count * 1.3)::integer) n`,
  `insert into posthorn.events (id, tenant, type, api_version, payload)
   select id, tenant, case when n % (:count / 10) = 7 then 'rare.type' when n % 10 = 0 then 'order.refunded' else 'order.paid' end,
     '1', '{"a":1}'
   from public.made`,
  // a delivery may have its event's id: only the time in it counts here
  `insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
   select m.id, m.id, ep.id, case when n % 50 = 0 then 'dead' else 'success' end,
     case when n % (:count / 4) = 0 then 'gone' when n % 50 = 0 then 'rejected' end, 1, 0, now()
   from public.made m
   join (select tenant, min(id::text)::uuid as id from posthorn.endpoints group by tenant) ep on ep.tenant = m.tenant
   where n <= :count`,
  `insert into posthorn.queue (id, event_id, endpoint_id, next_at, owed_since, claimed_by, attempts, failures, trigger)
   select m.id, m.id, ep.id, now() + (n % 7200 - 3600) * interval '1 second', now(),
     case when n % 1000 = 3 then 1 end, (n % 20 = 0)::integer, (n % 20 = 0)::integer,
     case when n % 20 = 0 then 'retry' else 'event' end
   from public.made m
   join (select tenant, min(id::text)::uuid as id from posthorn.endpoints group by tenant) ep on ep.tenant = m.tenant
   where n > :count`,
  "vacuum (analyze)",
];
