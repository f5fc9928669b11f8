// The effect of failing receivers: an unresponsive one with a large backlog, two thousand slow ones, and an outage of all.
import { setTimeout as delay } from "node:timers/promises";
import type { Load, LoadResult } from "./generator.ts";
import { type Measurement, measure } from "./measure.ts";
import { monotonicMs } from "./monotonic.ts";
import { adminKey, type PosthornServer } from "./posthorn-server.ts";
import { peakResidentMb } from "./processes.ts";
import type { OpenRequests } from "./receiver.ts";
import { queueIsEmpty, type Subject, settledCount, startPosthorn } from "./subject.ts";
import { endpointsPerTenant, eventData, tenantCount, tenantOf } from "./workload.ts";
import type { World } from "./world.ts";

// ── one black hole among healthy endpoints ───────────────────────────────────────────────────────────────────────────

export interface BlackHoleFigures {
  readonly baseline: Measurement;
  readonly beside: Measurement;
}

const holeRate = 1_000;

/** The black hole belongs to a tenant with healthy endpoints. It accepts requests and never responds. */
export async function besideBlackHole(
  world: World,
  backlog: number,
  durationMs: number,
): Promise<BlackHoleFigures> {
  const port = await world.receiver.call<number>("blackHole");
  const posthorn = await startPosthorn(world, "black_hole", undefined);
  // the queue is never empty beside a black hole
  const subject: Subject = {
    ...posthorn,
    hasSettled: async (count) => (await posthorn.settledCount()) >= count,
  };
  const load = { batch: 1, durationMs, rate: holeRate } as const;
  await measure(world, subject, load);
  const baseline = await measure(world, subject, load);
  await fillBlackHole(posthorn.server, `http://127.0.0.1:${port}/hook`, backlog);
  const beside = await measure(world, subject, load);
  await posthorn.stop();
  return { baseline, beside };
}

async function fillBlackHole(server: PosthornServer, url: string, backlog: number): Promise<void> {
  const [tenant, type] = [tenantOf(0), "order.hole"];
  await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, { url, events: [type] });
  const event = { tenant, type, data: JSON.parse(eventData(0)) };
  const most = 500;
  for (let left = backlog; left > 0; left -= most)
    await server.call("POST", "/api/v1/events", Array(Math.min(left, most)).fill(event));
}

// ── two thousand slow receivers ──────────────────────────────────────────────────────────────────────────────────────

export interface SlowFigures {
  readonly endpoints: number;
  readonly mostOpen: number;
  readonly mostOpenOfOne: number;
  readonly peakMb: number | null;
}

const slowPerTenant = 40;
const slowEventsPerTenant = 20;
const slowMs = 5_000;

export async function withSlowReceivers(world: World, durationMs: number): Promise<SlowFigures> {
  const url = await world.createDatabase("slow");
  const server = await world.startServer({
    database: url,
    role: "all",
    env: { POSTHORN_CONCURRENCY: "2500", POSTHORN_TIMEOUT_MS: "20000" },
  });
  await createSlowEndpoints(server, world.receiverPorts);
  await world.receiver.call("expect", tenantCount * slowEventsPerTenant);
  await world.receiver.call("delay", slowMs);
  try {
    for (let number = 0; number < tenantCount * slowEventsPerTenant; number += 1) {
      const event = { tenant: tenantOf((number % tenantCount) * endpointsPerTenant), type: "slow.event" };
      await server.call("POST", "/api/v1/events", { ...event, data: JSON.parse(eventData(number)) });
    }
    await delay(durationMs);
    const { most, mostOfOne } = await world.receiver.call<OpenRequests>("openRequests");
    return {
      endpoints: tenantCount * slowPerTenant,
      mostOpen: most,
      mostOpenOfOne: mostOfOne,
      peakMb: peakResidentMb(server.pid),
    };
  } finally {
    server.kill();
    await world.receiver.call("delay", 0);
  }
}

async function createSlowEndpoints(server: PosthornServer, receiverPorts: readonly number[]): Promise<void> {
  for (let tenant = 0; tenant < tenantCount; tenant += 1) {
    const path = `/api/v1/tenants/${tenantOf(tenant * endpointsPerTenant)}`;
    await server.call("PUT", path, {});
    for (let index = 0; index < slowPerTenant; index += 1) {
      const number = tenant * slowPerTenant + index;
      const port = receiverPorts[number % receiverPorts.length];
      const url = `http://127.0.0.1:${port}/slow-${number}`;
      await server.call("POST", `${path}/endpoints`, { url, events: ["slow.event"] });
    }
  }
}

// ── an outage of all receivers ──────────────────────────────────────────────────────────────────────────────────────────

export interface RecoveryFigures {
  readonly queued: number;
  /** From the recovery of the receivers until the queue is empty. */
  readonly recoveredMs: number;
  readonly mostOpenOfOne: number;
}

const recoveryPatienceMs = 120_000;

export async function afterOutage(world: World, count: number): Promise<RecoveryFigures> {
  const url = await world.createDatabase("outage");
  const gaps = ["1s", "2s", "4s", ...Array(20).fill("5s")].join(",");
  const server = await world.startServer({
    database: url,
    role: "all",
    env: { POSTHORN_RETRY_POLICY: gaps, POSTHORN_CIRCUIT_PAUSE_MS: "2000" },
  });
  await server.createEndpoints(world.receiverPorts);
  const sql = await world.connect(url);
  await world.receiver.call("expect", count);
  await world.receiver.call("down", true);
  await world.receiver.call("delay", 10);
  try {
    const load: Load = {
      port: server.port,
      key: adminKey,
      batch: 1,
      connections: 64,
      durationMs: recoveryPatienceMs,
      maxEvents: count,
      rate: 2_000,
    };
    const { accepted } = await world.generator.call<LoadResult>("run", load);
    await world.receiver.call("down", false);
    const upAt = monotonicMs();
    while (!(await queueIsEmpty(sql))) {
      if (monotonicMs() - upAt > recoveryPatienceMs)
        throw new Error(`The backlog does not drain.\n${server.log}`);
      await delay(20);
    }
    const recoveredMs = monotonicMs() - upAt;
    const settled = await settledCount(sql);
    if (settled !== accepted) throw new Error(`${accepted} were accepted, but ${settled} were delivered.`);
    const { mostOfOne } = await world.receiver.call<OpenRequests>("openRequests");
    return { queued: accepted, recoveredMs, mostOpenOfOne: mostOfOne };
  } finally {
    await server.stop();
    await world.receiver.call("down", false);
    await world.receiver.call("delay", 0);
  }
}
