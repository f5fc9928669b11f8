// One run: generates load, waits until everything is delivered and recorded, then compares the data of generator,
// receiver and PostgreSQL.
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Load, LoadResult } from "./generator.ts";
import { monotonicMs } from "./monotonic.ts";
import { cpuMs, familyCpuMs, machineBusyMs, peakResidentMb } from "./processes.ts";
import type { Arrivals } from "./receiver.ts";
import type { Subject } from "./subject.ts";
import type { batchSize } from "./workload.ts";
import type { World } from "./world.ts";

export interface Measurement {
  /** Settled deliveries per second, from the first request to the last recorded result. */
  readonly perSecond: number;
  /** From the 202 at the generator to the request at the receiver; negative if the receiver was first. */
  readonly acceptedToArrival: Percentiles;
  readonly sentToArrival: Percentiles;
  readonly statements: number;
  readonly walBytes: number;
  /** Processor time per delivery; null if unavailable. */
  readonly nodeMicros: number | null;
  readonly postgresMicros: number | null;
  /** Peak memory of the subject's process. */
  readonly peakMb: number | null;
  /** Share of the machine used by processes outside the benchmark. */
  readonly foreignShare: number | null;
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface Workload {
  readonly batch: 1 | typeof batchSize;
  readonly durationMs: number;
  /** Events per second; null: as fast as 64 connections allow. */
  readonly rate: number | null;
}

const connections = 64;
/** Upper bound for any machine. */
const maxEventsPerSecond = 100_000;
const settleMs = 60_000;

export async function measure(world: World, subject: Subject, workload: Workload): Promise<Measurement> {
  const { batch, durationMs, rate } = workload;
  const maxEvents = Math.ceil((durationMs / 1000) * maxEventsPerSecond);
  await world.receiver.call("expect", maxEvents);
  const settledBefore = await subject.settledCount();
  const before = await readCounters(world, subject);
  const load: Load = {
    port: subject.port,
    key: subject.key,
    batch,
    connections,
    durationMs,
    maxEvents,
    rate,
  };
  const sent = await world.generator.call<LoadResult>("run", load);
  await untilSettled(subject, settledBefore + sent.accepted);
  const elapsedMs = monotonicMs() - sent.startedAt;
  const after = await readCounters(world, subject);
  const arrivals = await world.receiver.call<Arrivals>("arrivals");
  checkNothingLost(sent, arrivals, (await subject.settledCount()) - settledBefore);
  const deliveries = sent.accepted;
  return {
    perSecond: (deliveries / elapsedMs) * 1000,
    acceptedToArrival: percentiles(differences(arrivals.at, sent.acceptedAt)),
    sentToArrival: percentiles(differences(arrivals.at, sent.sentAt)),
    statements: (after.statements - before.statements) / deliveries,
    walBytes: (after.walBytes - before.walBytes) / deliveries,
    nodeMicros: perDelivery(after.nodeMs, before.nodeMs, deliveries),
    postgresMicros: perDelivery(after.postgresMs, before.postgresMs, deliveries),
    peakMb: peakResidentMb(subject.pid),
    foreignShare: foreignShare(before, after),
  };
}

async function untilSettled(subject: Subject, count: number): Promise<void> {
  const deadline = monotonicMs() + settleMs;
  while (!(await subject.hasSettled(count))) {
    if (monotonicMs() > deadline)
      throw new Error("Deliveries are still queued a minute after the load ended.");
    await delay(3);
  }
}

/** Throws if events were lost. */
function checkNothingLost({ accepted }: LoadResult, { count, duplicates }: Arrivals, settled: number): void {
  if (count - duplicates !== accepted || settled !== accepted) {
    throw new Error(`${accepted} accepted, but ${count - duplicates} arrived and ${settled} were settled.`);
  }
  if (duplicates > 0) console.error(`${duplicates} of ${accepted} deliveries arrived twice.`);
}

export interface Counters {
  readonly statements: number;
  readonly walBytes: number;
  readonly nodeMs: number | null;
  readonly postgresMs: number | null;
  /** Processor time of the benchmark's processes without PostgreSQL. */
  readonly ownMs: number | null;
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
    nodeMs: cpuMs(pid),
    postgresMs: familyCpuMs(postmasterPid),
    ownMs: familyCpuMs(process.pid),
    busyMs: machineBusyMs(),
    at: monotonicMs(),
  };
}

export function foreignShare(before: Counters, after: Counters): number | null {
  if (before.ownMs === null || after.ownMs === null) return null;
  const ownMs = after.ownMs - before.ownMs + (after.postgresMs ?? 0) - (before.postgresMs ?? 0);
  const allMs = (after.at - before.at) * cpus().length;
  return Math.max(0, after.busyMs - before.busyMs - ownMs) / allMs;
}

export function perDelivery(after: number | null, before: number | null, deliveries: number): number | null {
  return after === null || before === null ? null : ((after - before) * 1000) / deliveries;
}

function differences(later: Float64Array, earlier: Float64Array): Float64Array {
  return earlier.map((time, index) => (later[index] as number) - time);
}

export function percentiles(values: Float64Array): Percentiles {
  const sorted = values.slice().sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Returns the median of each figure separately. */
export function medianOf(runs: readonly Measurement[]): Measurement {
  const median = (pick: (run: Measurement) => number): number => medianNumber(runs.map(pick));
  const medianOrNull = (pick: (run: Measurement) => number | null): number | null => {
    const values = runs.map(pick).filter((value) => value !== null);
    return values.length === 0 ? null : medianNumber(values);
  };
  return {
    perSecond: median((run) => run.perSecond),
    acceptedToArrival: {
      p50: median((run) => run.acceptedToArrival.p50),
      p99: median((run) => run.acceptedToArrival.p99),
    },
    sentToArrival: {
      p50: median((run) => run.sentToArrival.p50),
      p99: median((run) => run.sentToArrival.p99),
    },
    statements: median((run) => run.statements),
    walBytes: median((run) => run.walBytes),
    nodeMicros: medianOrNull((run) => run.nodeMicros),
    postgresMicros: medianOrNull((run) => run.postgresMicros),
    peakMb: medianOrNull((run) => run.peakMb),
    // the worst run
    foreignShare: Math.max(...runs.map((run) => run.foreignShare ?? Number.NaN)),
  };
}

export function medianNumber(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
