// Measures how fast a backlog drains: events are published without a worker, then one starts. And a large backlog: the
// memory of a server that has it, and the statement that fetches from it.
import { setTimeout as delay } from "node:timers/promises";
import type { Plan } from "../options.ts";
import { publish, queueIsEmpty, settledCount } from "../subject.ts";
import { monotonicMs } from "../system/monotonic.ts";
import { milliseconds, progress, ratio, renderTable, whole } from "../table.ts";
import { batchSize } from "../workload.ts";
import type { World } from "../world.ts";
import { fetchMs, fillBacklog, measureMemory, prepareBacklog } from "./large-backlog.ts";

const timeoutMs = 120_000;
const smallBacklog = 1_000;

export async function backlogTable(world: World, plan: Plan): Promise<string | null> {
  const rows: string[][] = [];
  if (plan.parts.has("backlog")) {
    const perSecond = `${whole(await drainBacklog(world, plan))}/s`;
    progress(`backlog of ${whole(plan.backlog)}: ${perSecond}`);
    rows.push([`draining ${whole(plan.backlog)} queued`, perSecond]);
  }
  if (plan.parts.has("fetch") || plan.parts.has("memory"))
    rows.push(...(await largeBacklogRows(world, plan)));
  return renderTable(["backlog", ""], rows);
}

async function largeBacklogRows(world: World, { parts, queued, memoryMs }: Plan): Promise<string[][]> {
  const rows: string[][] = [];
  const backlog = await prepareBacklog(world);
  const times: number[] = [];
  for (const count of parts.has("fetch") ? [smallBacklog, queued] : [queued]) {
    progress(`inserting ${whole(count)} queued deliveries`);
    await fillBacklog(backlog, count);
    if (!parts.has("fetch")) continue;
    times.push(await fetchMs(backlog));
    rows.push([
      `one fetch of 300 with ${whole(count)} queued, p50`,
      `${milliseconds(times.at(-1) ?? NaN)} ms`,
    ]);
  }
  const [fewMs = NaN, manyMs = NaN] = times;
  if (parts.has("fetch")) rows.push(["  ratio of the two (target: at most 2)", ratio(manyMs / fewMs)]);
  if (parts.has("memory")) {
    progress("delivering them, receivers respond after 200 ms");
    const { peakMb, perSecond } = await measureMemory(backlog, queued, memoryMs);
    rows.push(
      [`peak server memory with ${whole(queued)} queued`, `${whole(peakMb)} MB`],
      ["  deliveries to receivers that take 200 ms", `${whole(perSecond)}/s`],
    );
  }
  return rows;
}

/** Returns deliveries per second from the first arrival to the last recorded result. */
async function drainBacklog(world: World, { backlog: count, profileDir }: Plan): Promise<number> {
  const url = await world.createDatabase("backlog");
  const api = await world.startServer({ database: url, role: "api" });
  await api.createEndpoints(world.receivers);
  const accepted = await publish(world, api, count, { batch: batchSize, connections: 8, rate: null });
  await api.stop();
  await world.receiver.call("expect", count);
  const sql = await world.connect(url);
  const worker = await world.startServer({ database: url, role: "worker", profileDir });
  const deadline = monotonicMs() + timeoutMs;
  for (;;) {
    const { count: arrived } = await arrivals(world);
    if (arrived >= accepted && (await queueIsEmpty(sql))) break;
    if (monotonicMs() > deadline)
      throw new Error(`The backlog does not drain: ${arrived} of ${accepted} arrived.\n${worker.log}`);
    await delay(10);
  }
  const endedAt = monotonicMs();
  const { firstAt } = await arrivals(world);
  const settled = await settledCount(sql);
  await worker.stop();
  if (settled !== accepted) throw new Error(`${accepted} were queued, but ${settled} were settled.`);
  return (accepted / (endedAt - firstAt)) * 1000;
}

async function arrivals(world: World): Promise<{ count: number; firstAt: number }> {
  return await world.receiver.call<{ count: number; firstAt: number }>("progress");
}
