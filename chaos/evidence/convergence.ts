// Waits until everything is delivered after all faults were removed.
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { Scale } from "../options.ts";
import { canaryTenant } from "../world/endpoints.ts";
import type { Deadline } from "../world/server-slot.ts";
import type { World } from "../world/world.ts";
import type { Evidence } from "./evidence.ts";

type Rest = Pick<Evidence, "convergedAt" | "unsettled">;

/** Waits until queue and outbox are empty, no request is open, all processes are up and no connection is left over. */
export async function untilSettled(world: World, timeoutMs: number): Promise<Rest> {
  const rest = await untilNoneUnsettled(world.deadlineIn(timeoutMs), () => readUnsettled(world));
  if (rest.convergedAt !== null) return rest;
  // each failed probe doubles the pause, so after an outage it may be minutes long
  const pauseMs = await longestPauseMs(world);
  if (pauseMs === 0) return rest;
  return await untilNoneUnsettled(world.deadlineIn(pauseMs + timeoutMs), () => readUnsettled(world));
}

/** Publishes again until every circuit has closed: a circuit without deliveries never closes. */
export async function publishAgain(
  world: World,
  { finalMs, convergeMs }: Scale,
): Promise<Rest & Pick<Evidence, "final">> {
  const { publishers } = world;
  const from = monotonicMs();
  const isOver = world.deadlineIn(convergeMs);
  publishers.start();
  await delay(finalMs);
  const final = { from, until: monotonicMs(), memory: await world.mostMemory() };
  const { unsettled } = await untilNoneUnsettled(isOver, () => readOpenCircuits(world));
  await publishers.pause(convergeMs);
  const rest = await untilSettled(world, convergeMs);
  const areCircuitsClosed = unsettled.length === 0;
  return {
    final,
    convergedAt: areCircuitsClosed ? rest.convergedAt : null,
    unsettled: [...unsettled, ...rest.unsettled],
  };
}

async function untilNoneUnsettled(isOver: Deadline, unsettledNow: () => Promise<string[]>): Promise<Rest> {
  for (;;) {
    const unsettled = await unsettledNow();
    if (unsettled.length === 0) return { convergedAt: monotonicMs(), unsettled };
    if (isOver()) return { convergedAt: null, unsettled };
    await delay(100);
  }
}

async function readUnsettled({ postgres, receivers, slots, maxConnections }: World): Promise<string[]> {
  // deliveries to canaries wait behind an open circuit
  const [row] = await postgres.query<{ queued: number; outbox: number; connections: number }>(
    `select
       (
         select count(*)
         from posthorn.unfinished q
         join posthorn.endpoints ep on ep.id = q.endpoint_id
         where ep.tenant <> '${canaryTenant}'
       )::integer as queued,
       (select count(*) from posthorn.outbox)::integer as outbox,
       (
         select count(*)
         from pg_stat_activity
         where backend_type = 'client backend'
           and pid <> pg_backend_pid()
       )::integer as connections`,
  );
  const open = Object.values(await receivers.call<Record<string, number>>("openBySender"));
  const { queued = 0, outbox = 0, connections = 0 } = row ?? {};
  return [
    ...unsettledIn({
      "deliveries are queued": queued,
      "events wait for fan-out": outbox,
      "requests are open": open.reduce((sum, count) => sum + count, 0),
      "processes are not up": slots.filter((slot) => slot.liveName === null).length,
    }),
    ...leftOver(connections, maxConnections),
  ];
}

const unsettledIn = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : `${count} ${what}`));

/** Connections may be as many as all pools together have. */
export const leftOver = (connections: number, maxConnections: number): string[] =>
  connections > maxConnections
    ? [`${connections} connections to the database are open; all pools together have ${maxConnections}`]
    : [];

async function longestPauseMs({ postgres }: World): Promise<number> {
  const [row] = await postgres.query<{ pauseMs: number }>(
    `select coalesce(max(posthorn.epoch_ms(h.probe_at) - posthorn.epoch_ms(posthorn.now())), 0) as "pauseMs"
     from posthorn.endpoint_health h
     join posthorn.endpoints ep on ep.id = h.endpoint_id
     where ep.tenant <> '${canaryTenant}'`,
  );
  return Math.max(0, Number(row?.pauseMs));
}

async function readOpenCircuits({ postgres }: World): Promise<string[]> {
  const rows = await postgres.query<{ name: string }>(
    `select substring(ep.url from '[^/]*$') as name
     from posthorn.endpoint_health h
     join posthorn.endpoints ep on ep.id = h.endpoint_id
     where h.probe_at is not null
       and ep.tenant <> '${canaryTenant}'`,
  );
  return rows.map(({ name }) => `the circuit of ${name} has not closed`);
}
