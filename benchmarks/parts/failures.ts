// The effect of failing receivers: an unresponsive one with a large backlog, two thousand slow ones, and an outage of all.
import { setTimeout as delay } from "node:timers/promises";
import { type Measurement, measure } from "../measure.ts";
import type { Plan } from "../options.ts";
import type { PosthornServer } from "../programs/posthorn-server.ts";
import type { OpenRequests } from "../programs/receiver.ts";
import { publish, queueIsEmpty, settledCount, startPosthorn } from "../subject.ts";
import { monotonicMs } from "../system/monotonic.ts";
import { peakResidentMb } from "../system/processes.ts";
import { milliseconds, progress, ratio, renderTable, whole } from "../table.ts";
import { endpointsPerTenant, eventData, tenantCount, tenantOf } from "../workload.ts";
import type { World } from "../world.ts";

export async function failuresTable(world: World, { parts, ...plan }: Plan): Promise<string | null> {
  const rows: string[][] = [];
  if (parts.has("hole")) rows.push(...(await besideBlackHole(world, plan.hole, plan.steadyMs * 2)));
  if (parts.has("slow")) rows.push(...(await withSlowReceivers(world, plan.memoryMs)));
  if (parts.has("outage")) rows.push(...(await afterOutage(world, plan.outage)));
  return renderTable(["failing receivers", ""], rows);
}

// ── one black hole among healthy endpoints ───────────────────────────────────────────────────────────────────────────

const holeRate = 1_000;

/** The black hole belongs to a tenant with healthy endpoints. It accepts requests and never responds. */
async function besideBlackHole(world: World, backlog: number, durationMs: number): Promise<string[][]> {
  progress(`healthy endpoints beside an unresponsive one with ${whole(backlog)} queued`);
  const port = await world.receiver.call<number>("blackHole");
  const posthorn = await startPosthorn(world, "black_hole", undefined);
  const load = { batch: 1, durationMs, rate: holeRate } as const;
  await measure(world, posthorn, load);
  const baseline = await measure(world, posthorn, load);
  await fillBlackHole(posthorn.server, `http://127.0.0.1:${port}/hook`, backlog);
  const beside = await measure(world, posthorn, load);
  await posthorn.stop();
  const shown = ({ sentP50, sentP99 }: Measurement) =>
    `${milliseconds(sentP50)} / ${milliseconds(sentP99)} ms`;
  return [
    ["healthy endpoints at 1,000/s, sent→arrival p50 / p99", shown(baseline)],
    [`  beside an unresponsive endpoint with ${whole(backlog)} queued`, shown(beside)],
    ["  p99 compared with the run without (target: at most 2)", ratio(beside.sentP99 / baseline.sentP99)],
  ];
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

const slowPerTenant = 40;
const slowEventsPerTenant = 20;
const slowMs = 5_000;

async function withSlowReceivers(world: World, durationMs: number): Promise<string[][]> {
  const count = tenantCount * slowPerTenant;
  progress(`${whole(count)} receivers take 5 s each`);
  const url = await world.createDatabase("slow");
  const server = await world.startServer({
    database: url,
    role: "all",
    env: { POSTHORN_CONCURRENCY: "2500", POSTHORN_TIMEOUT_MS: "20000" },
  });
  await createSlowEndpoints(server, world.receivers);
  await world.receiver.call("expect", tenantCount * slowEventsPerTenant);
  await world.receiver.call("delay", slowMs);
  try {
    for (let number = 0; number < tenantCount * slowEventsPerTenant; number += 1) {
      const event = { tenant: tenantOf((number % tenantCount) * endpointsPerTenant), type: "slow.event" };
      await server.call("POST", "/api/v1/events", { ...event, data: JSON.parse(eventData(number)) });
    }
    await delay(durationMs);
    const { most, mostOfOne } = await world.receiver.call<OpenRequests>("openRequests");
    return [
      [
        `server memory with ${whole(count)} receivers that take 5 s`,
        `${whole(peakResidentMb(server.pid))} MB`,
      ],
      ["  open requests in total, per endpoint", `${whole(most)}, ${mostOfOne}`],
    ];
  } finally {
    server.kill();
    await world.receiver.call("delay", 0);
  }
}

async function createSlowEndpoints(server: PosthornServer, receivers: readonly string[]): Promise<void> {
  for (let tenant = 0; tenant < tenantCount; tenant += 1) {
    const path = `/api/v1/tenants/${tenantOf(tenant * endpointsPerTenant)}`;
    await server.call("PUT", path, {});
    for (let index = 0; index < slowPerTenant; index += 1) {
      const number = tenant * slowPerTenant + index;
      const origin = receivers[number % receivers.length];
      const url = `${origin}/slow-${number}`;
      await server.call("POST", `${path}/endpoints`, { url, events: ["slow.event"] });
    }
  }
}

// ── an outage of all receivers ──────────────────────────────────────────────────────────────────────────────────────────

const recoveryTimeoutMs = 120_000;

async function afterOutage(world: World, count: number): Promise<string[][]> {
  progress(`all receivers are down while ${whole(count)} events are published, then recover`);
  const url = await world.createDatabase("outage");
  const gaps = ["1s", "2s", "4s", ...Array(20).fill("5s")].join(",");
  const server = await world.startServer({
    database: url,
    role: "all",
    env: { POSTHORN_RETRY_POLICY: gaps, POSTHORN_CIRCUIT_PAUSE_MS: "2000" },
  });
  await server.createEndpoints(world.receivers);
  const sql = await world.connect(url);
  await world.receiver.call("expect", count);
  await world.receiver.call("down", true);
  await world.receiver.call("delay", 10);
  try {
    const accepted = await publish(world, server, count, { batch: 1, connections: 64, rate: 2_000 });
    await world.receiver.call("down", false);
    const upAt = monotonicMs();
    while (!(await queueIsEmpty(sql))) {
      if (monotonicMs() - upAt > recoveryTimeoutMs)
        throw new Error(`The backlog does not drain.\n${server.log}`);
      await delay(20);
    }
    const recoveredMs = monotonicMs() - upAt;
    const settled = await settledCount(sql);
    if (settled !== accepted) throw new Error(`${accepted} were accepted, but ${settled} were delivered.`);
    const { mostOfOne } = await world.receiver.call<OpenRequests>("openRequests");
    return [
      [
        `after an outage: ${whole(accepted)} queued are delivered after`,
        `${milliseconds(recoveredMs / 1000)} s`,
      ],
      ["  open requests per endpoint", String(mostOfOne)],
    ];
  } finally {
    await server.stop();
    await world.receiver.call("down", false);
    await world.receiver.call("delay", 0);
  }
}
