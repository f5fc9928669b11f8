// Measures how fast a backlog drains: events are published without a worker, then one starts.
import { setTimeout as delay } from "node:timers/promises";
import type { Load, LoadResult } from "./generator.ts";
import { monotonicMs } from "./monotonic.ts";
import { adminKey } from "./posthorn-server.ts";
import { queueIsEmpty, settledCount } from "./subject.ts";
import { batchSize } from "./workload.ts";
import type { World } from "./world.ts";

const patienceMs = 120_000;

export interface Drain {
  readonly deliveries: number;
  /** From the first arrival to the last recorded result. */
  readonly perSecond: number;
}

export async function drainBacklog(
  world: World,
  count: number,
  profileDir: string | undefined,
): Promise<Drain> {
  const url = await world.createDatabase("backlog");
  const api = await world.startServer({ database: url, role: "api" });
  await api.createEndpoints(world.receiverPorts);
  const load: Load = {
    port: api.port,
    key: adminKey,
    batch: batchSize,
    connections: 8,
    durationMs: patienceMs,
    maxEvents: count,
    rate: null,
  };
  const { accepted } = await world.generator.call<LoadResult>("run", load);
  await api.stop();
  await world.receiver.call("expect", count);
  const sql = await world.connect(url);
  const worker = await world.startServer({ database: url, role: "worker", profileDir });
  const deadline = monotonicMs() + patienceMs;
  for (;;) {
    const { count: arrived } = await progress(world);
    if (arrived >= accepted && (await queueIsEmpty(sql))) break;
    if (monotonicMs() > deadline)
      throw new Error(`The backlog does not drain: ${arrived} of ${accepted} arrived.\n${worker.log}`);
    await delay(10);
  }
  const endedAt = monotonicMs();
  const { firstAt } = await progress(world);
  const settled = await settledCount(sql);
  await worker.stop();
  if (settled !== accepted) throw new Error(`${accepted} were queued, but ${settled} were settled.`);
  return { deliveries: accepted, perSecond: (accepted / (endedAt - firstAt)) * 1000 };
}

async function progress(world: World): Promise<{ count: number; firstAt: number }> {
  return await world.receiver.call<{ count: number; firstAt: number }>("progress");
}
