// Memory and processor time of processes. Null on systems other than Linux.
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

export function residentMb(pid: number): number | null {
  return statusField(pid, "VmRSS");
}

export function peakResidentMb(pid: number): number | null {
  return statusField(pid, "VmHWM");
}

/** Returns the processor time so far, user and system. */
export function cpuMs(pid: number): number | null {
  const fields = statFields(pid);
  return fields === null ? null : ticksToMs(fields, [11, 12]);
}

/** Returns the processor time of a process and its descendants, including exited ones. */
export function familyCpuMs(parent: number): number | null {
  const own = statFields(parent);
  if (own === null) return null;
  let total = ticksToMs(own, [11, 12, 13, 14]);
  for (const name of readdirSync("/proc")) {
    const fields = /^\d+$/.test(name) ? statFields(Number(name)) : null;
    if (fields !== null && Number(fields[1]) === parent) total += ticksToMs(fields, [11, 12]);
  }
  return total;
}

/** Returns the busy time of all processors since boot. */
export function machineBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

function statusField(pid: number, name: string): number | null {
  const [, kilobytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(read(`/proc/${pid}/status`) ?? "") ?? [];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}

/** Returns the fields of /proc/<pid>/stat from the third on; the second, the name, may contain spaces. */
function statFields(pid: number): string[] | null {
  const text = read(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** USER_HZ is 100 on every Linux that Node runs on. */
function ticksToMs(fields: readonly string[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + Number(fields[index]) * 10, 0);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
