// How many processes `posthorn serve` starts, and how many database connections they need.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

export const MAX_PROCESSES = 128;
/** A pool of ten, one for the lease, and one for the write loop. */
export const CONNECTIONS_PER_PROCESS = 12;
/** For migrations, psql, doctor and the server processes of PostgreSQL that count as connections in its statistics. */
const OTHER_CONNECTIONS = 20;

/** `auto` leaves one core to the database and the rest of the machine. */
export function processCount(setting: number | "auto", cores = usableCores()): number {
  if (setting !== "auto") return setting;
  return Math.min(MAX_PROCESSES, Math.max(1, cores - 1));
}

/** Returns the largest number of processes whose connections fit beside those in use, at least 1. */
export function processesThatFit(facts: {
  readonly maxConnections: number;
  readonly usedConnections: number;
}): number {
  const free = facts.maxConnections - facts.usedConnections;
  return Math.max(1, Math.floor(free / CONNECTIONS_PER_PROCESS));
}

/** `max_connections` of an embedded server for this many processes. */
export function connectionsFor(processes: number): number {
  return Math.max(100, processes * CONNECTIONS_PER_PROCESS + 2 * OTHER_CONNECTIONS);
}

/**
 * Cores of the machine that this process may use. Node ignores the CPU limit of a container: a container
 * with one core on a large machine would start dozens of processes.
 */
function usableCores(): number {
  return Math.min(availableParallelism(), containerCores(readIfThere));
}

/** Reads the CPU limit of cgroup v2 or v1, rounded up; infinity if there is none. */
export function containerCores(read: (path: string) => string | null): number {
  const [quota, period] = (
    read("/sys/fs/cgroup/cpu.max") ??
    `${read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")} ${read("/sys/fs/cgroup/cpu/cpu.cfs_period_us")}`
  )
    .trim()
    .split(/\s+/)
    .map(Number);
  const cores = Math.ceil(Number(quota) / Number(period));
  return cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
