// Waits until a world that was mended has come to rest.
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import { canaryTenant } from "./endpoints.ts";
import type { Evidence } from "./evidence.ts";
import type { Scale } from "./options.ts";
import type { World } from "./world.ts";

type Rest = Pick<Evidence, "convergedAt" | "unsettled">;

/** Nothing owed, nothing waiting for its fan-out, no request open, every process up, no connection left behind. */
export async function untilAtRest(world: World, patienceMs: number): Promise<Rest> {
  const rest = await untilNothing(monotonicMs() + patienceMs, () => whatIsUnsettled(world));
  if (rest.convergedAt !== null) return rest;
  // each failed trial doubles the pause, and receivers fail one in six: after an outage it may be minutes long
  const pauseMs = await longestPauseMs(world);
  if (pauseMs === 0) return rest;
  return await untilNothing(monotonicMs() + pauseMs + patienceMs, () => whatIsUnsettled(world));
}

/** Publishes again, at least until every circuit has closed: one with nothing to send stays on trial for ever. */
export async function calmDown(
  world: World,
  { calmMs, convergeMs }: Scale,
): Promise<Rest & Pick<Evidence, "calm">> {
  const { publishers } = world;
  const from = monotonicMs();
  publishers.start();
  await delay(calmMs);
  const calm = { from, until: monotonicMs(), memory: await world.mostMemory() };
  const { unsettled } = await untilNothing(from + convergeMs, () => whichCircuitsAreOpen(world));
  await publishers.rest(convergeMs);
  const rest = await untilAtRest(world, convergeMs);
  const isWell = unsettled.length === 0;
  return {
    calm,
    convergedAt: isWell ? rest.convergedAt : null,
    unsettled: [...unsettled, ...rest.unsettled],
  };
}

async function untilNothing(deadline: number, unsettledNow: () => Promise<string[]>): Promise<Rest> {
  for (;;) {
    const unsettled = await unsettledNow();
    if (unsettled.length === 0) return { convergedAt: monotonicMs(), unsettled };
    if (monotonicMs() > deadline) return { convergedAt: null, unsettled };
    await delay(100);
  }
}

async function whatIsUnsettled({ postgres, receivers, slots, maxConnections }: World): Promise<string[]> {
  // the canaries' circuit is open, and what they are owed waits behind it
  const [row] = await postgres.query<{ owed: number; outbox: number; connections: number }>(
    `select
       (
         select count(*)
         from posthorn.queue q
         join posthorn.endpoints ep on ep.id = q.endpoint_id
         where ep.tenant <> '${canaryTenant}'
       )::integer as owed,
       (select count(*) from posthorn.outbox)::integer as outbox,
       (
         select count(*)
         from pg_stat_activity
         where backend_type = 'client backend'
           and pid <> pg_backend_pid()
       )::integer as connections`,
  );
  const open = Object.values(await receivers.ask<Record<string, number>>("openBySender"));
  return unsettledIn({
    ...(row as { owed: number; outbox: number; connections: number }),
    maxConnections,
    requests: open.reduce((sum, count) => sum + count, 0),
    down: slots.filter((slot) => slot.liveName === null).length,
  });
}

/** What a world looks like, in numbers. */
export interface Look {
  readonly owed: number;
  readonly outbox: number;
  readonly requests: number;
  readonly down: number;
  /** To the database. */
  readonly connections: number;
  /** All pools filled. */
  readonly maxConnections: number;
}

export function unsettledIn({ owed, outbox, requests, down, connections, maxConnections }: Look): string[] {
  const counts = { "deliveries are owed": owed, "events wait for their fan-out": outbox };
  const unsettled = { ...counts, "requests are open": requests, "processes are not up": down };
  return [
    ...Object.entries(unsettled).flatMap(([what, count]) => (count === 0 ? [] : `${count} ${what}`)),
    ...(connections > maxConnections
      ? [`${connections} connections to the database are open, all pools together have ${maxConnections}`]
      : []),
  ];
}

async function longestPauseMs({ postgres }: World): Promise<number> {
  const [row] = await postgres.query<{ pauseMs: number }>(
    `select coalesce(max(posthorn.epoch_ms(h.probe_at) - posthorn.epoch_ms(posthorn.now())), 0) as "pauseMs"
     from posthorn.endpoint_health h
     join posthorn.endpoints ep on ep.id = h.endpoint_id
     where ep.tenant <> '${canaryTenant}'`,
  );
  return Math.max(0, Number(row?.pauseMs));
}

async function whichCircuitsAreOpen({ postgres }: World): Promise<string[]> {
  const rows = await postgres.query<{ name: string }>(
    `select substring(ep.url from '[^/]*$') as name
     from posthorn.endpoint_health h
     join posthorn.endpoints ep on ep.id = h.endpoint_id
     where h.probe_at is not null
       and ep.tenant <> '${canaryTenant}'`,
  );
  return rows.map(({ name }) => `the circuit of ${name} has not closed`);
}
