// One run: generates load, waits until everything is delivered and recorded, then compares the data of generator,
// receiver and PostgreSQL.
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Load, LoadResult } from "./programs/generator.ts";
import type { Arrivals, Progress } from "./programs/receiver.ts";
import type { Subject } from "./subject.ts";
import { monotonicMs } from "./system/monotonic.ts";
import { familyCpuMs, machineBusyMs, peakResidentMb } from "./system/processes.ts";
import type { Subprocess } from "./system/subprocess.ts";
import type { batchSize } from "./workload.ts";
import type { World } from "./world.ts";

/** The costs of a request. Figures that are not available on this system are NaN. */
export interface Costs {
  readonly perSecond: number;
  readonly statements: number;
  readonly walBytes: number;
  /** Processor time per request. */
  readonly nodeMicros: number;
  readonly postgresMicros: number;
  /** Share of the machine used by processes outside the benchmark. */
  readonly foreignShare: number;
}

/** Deliveries per second count from the first request to the last recorded result. */
export interface Measurement extends Costs {
  /** From the 202 at the generator to the request at the receiver; negative if the receiver was first. */
  readonly acceptedP50: number;
  readonly acceptedP99: number;
  readonly sentP50: number;
  readonly sentP99: number;
  /** Peak memory of the subject's processes. */
  readonly peakMb: number;
}

export interface Workload {
  readonly batch: 1 | typeof batchSize;
  readonly durationMs: number;
  /** Events per second; null: as fast as the connections allow. */
  readonly rate: number | null;
  /** 64 by default. */
  readonly connections?: number;
}

/** Upper bound for any machine. */
const maxEventsPerSecond = 100_000;
const settleMs = 60_000;
/** The query's cost counts: it reads the deliveries of the run. It is not polled before all of them have arrived. */
const settlePollMs = 20;
const arrivalPollMs = 2;

export async function measure(world: World, subject: Subject, workload: Workload): Promise<Measurement> {
  const maxEvents = Math.ceil((workload.durationMs / 1000) * maxEventsPerSecond);
  await world.receiver.call("expect", maxEvents);
  const settledBefore = await subject.settledCount();
  const before = await readCounters(world, subject);
  const load: Load = { connections: 64, ...workload, port: subject.port, key: subject.key, maxEvents };
  const sent = await world.generator.call<LoadResult>("run", load);
  await until(
    async () => (await world.receiver.call<Progress>("progress")).count >= sent.accepted,
    arrivalPollMs,
  );
  await until(() => subject.hasSettled(settledBefore + sent.accepted), settlePollMs);
  const elapsedMs = monotonicMs() - sent.startedAt;
  const after = await readCounters(world, subject);
  const arrivals = await world.receiver.call<Arrivals>("arrivals");
  checkNothingLost(sent, arrivals, (await subject.settledCount()) - settledBefore);
  const [acceptedP50, acceptedP99] = percentiles(differences(arrivals.at, sent.acceptedAt));
  const [sentP50, sentP99] = percentiles(differences(arrivals.at, sent.sentAt));
  return {
    ...costs(before, after, sent.accepted, elapsedMs),
    acceptedP50,
    acceptedP99,
    sentP50,
    sentP99,
    peakMb: peakResidentMb(subject.pid),
  };
}

/** Loads several servers at once, over `connections` in total, and returns the cost of a delivery. */
export async function measureTogether(
  world: World,
  subjects: readonly (Subject & Pick<Load, "endpoints"> & { readonly generator: Subprocess })[],
  { durationMs, connections }: { readonly durationMs: number; readonly connections: number },
): Promise<Costs> {
  const maxEvents = Math.ceil((durationMs / 1000) * maxEventsPerSecond);
  await world.receiver.call("expect", maxEvents);
  const settledBefore = await Promise.all(subjects.map((subject) => subject.settledCount()));
  const before = await countersOf(world, subjects);
  const results = await Promise.all(
    subjects.map(({ generator, port, key, endpoints }) => {
      const load: Load = {
        ...(endpoints && { endpoints }),
        batch: 1,
        rate: null,
        connections: connections / subjects.length,
        port,
        key,
        durationMs,
        maxEvents,
      };
      return generator.call<LoadResult>("run", load);
    }),
  );
  for (const [index, subject] of subjects.entries()) {
    const ofDatabase = results.filter((_, other) => subjects[other]?.database === subject.database);
    const settled = (settledBefore[index] as number) + totalOf(ofDatabase);
    await until(() => subject.hasSettled(settled), settlePollMs);
  }
  const elapsedMs = monotonicMs() - Math.min(...results.map(({ startedAt }) => startedAt));
  const after = await countersOf(world, subjects);
  return costs(before, after, totalOf(results), elapsedMs);
}

async function countersOf(world: World, subjects: readonly Subject[]): Promise<Counters> {
  const counters = await Promise.all(subjects.map((subject) => readCounters(world, subject)));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  // the statements of servers that share a database are counted together
  const byDatabase = new Map(subjects.map(({ database }, index) => [database, counters[index] as Counters]));
  return {
    ...(counters[0] as Counters),
    statements: sum([...byDatabase.values()].map(({ statements }) => statements)),
    nodeMs: sum(counters.map(({ nodeMs }) => nodeMs)),
  };
}

function totalOf(results: readonly LoadResult[]): number {
  return results.reduce((sum, { accepted }) => sum + accepted, 0);
}

async function until(holds: () => Promise<boolean>, pollMs: number): Promise<void> {
  const deadline = monotonicMs() + settleMs;
  while (!(await holds())) {
    if (monotonicMs() > deadline)
      throw new Error("Deliveries are still queued a minute after the load ended.");
    await delay(pollMs);
  }
}

/** Throws if events were lost. */
function checkNothingLost({ accepted }: LoadResult, { count, duplicates }: Arrivals, settled: number): void {
  if (count - duplicates !== accepted || settled !== accepted) {
    throw new Error(`${accepted} accepted, but ${count - duplicates} arrived and ${settled} were settled.`);
  }
  if (duplicates > 0) console.error(`${duplicates} of ${accepted} deliveries arrived twice.`);
}

interface Counters {
  readonly statements: number;
  readonly walBytes: number;
  readonly nodeMs: number;
  readonly postgresMs: number;
  /** Processor time of the benchmark's processes without PostgreSQL. */
  readonly ownMs: number;
  readonly busyMs: number;
  readonly at: number;
}

export async function readCounters(
  { sql, postmasterPid }: World,
  { database, pid }: Pick<Subject, "database" | "pid">,
): Promise<Counters> {
  const { rows } = await sql.query<{ statements: number; wal_bytes: number }>(
    `select
       (
         select coalesce(sum(s.calls), 0)::float
         from pg_stat_statements s
         join pg_database d on d.oid = s.dbid
         where d.datname = $1
       ) as statements,
       (pg_current_wal_insert_lsn() - '0/0')::float as wal_bytes`,
    [database],
  );
  return {
    statements: rows[0]?.statements ?? 0,
    walBytes: rows[0]?.wal_bytes ?? 0,
    nodeMs: familyCpuMs(pid),
    postgresMs: familyCpuMs(postmasterPid),
    ownMs: familyCpuMs(process.pid),
    busyMs: machineBusyMs(),
    at: monotonicMs(),
  };
}

export function costs(before: Counters, after: Counters, requests: number, elapsedMs: number): Costs {
  const postgresMs = after.postgresMs - before.postgresMs;
  const foreignMs = after.busyMs - before.busyMs - (after.ownMs - before.ownMs) - postgresMs;
  return {
    perSecond: (requests / elapsedMs) * 1000,
    statements: (after.statements - before.statements) / requests,
    walBytes: (after.walBytes - before.walBytes) / requests,
    nodeMicros: ((after.nodeMs - before.nodeMs) * 1000) / requests,
    postgresMicros: (postgresMs * 1000) / requests,
    foreignShare: Math.max(0, foreignMs) / ((after.at - before.at) * cpus().length),
  };
}

function differences(later: Float64Array, earlier: Float64Array): Float64Array {
  return earlier.map((time, index) => (later[index] as number) - time);
}

function percentiles(values: Float64Array): [p50: number, p99: number] {
  const sorted = values.slice().sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return [at(0.5), at(0.99)];
}

/** Returns the median of each figure separately, and the foreign share of the worst run. */
export function medianOf<Run extends Costs>(runs: readonly Run[]): Run {
  const names = Object.keys(runs[0] ?? {}) as (keyof Run)[];
  const medians = names.map((name) => [name, medianNumber(runs.map((run) => run[name] as number))]);
  return { ...Object.fromEntries(medians), foreignShare: Math.max(...runs.map((run) => run.foreignShare)) };
}

/** Returns the median ratio of runs measured in the same round. */
export function shareOf(runs: readonly Costs[], others: readonly Costs[]): number {
  return medianNumber(runs.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? NaN)));
}

export function medianNumber(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
