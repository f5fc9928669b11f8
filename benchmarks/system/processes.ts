// Memory and processor time of processes. NaN on systems other than Linux.
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Returns the sum of the peaks of a process and its descendants. */
export function peakResidentMb(pid: number): number {
  return familyOf(pid).reduce((sum, member) => {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${member}/status`)) ?? [];
    return sum + Number(kilobytes) / 1024;
  }, 0);
}

/** Returns the processor time so far, user and system, of a process and its descendants, including exited ones. */
export function familyCpuMs(pid: number): number {
  return familyOf(pid).reduce((sum, member) => sum + ticksToMs(statFields(member), [11, 12, 13, 14]), 0);
}

/** Returns the process and its running descendants. */
function familyOf(pid: number): number[] {
  const byParent = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(Number(name))[1]);
    byParent.set(parent, [...(byParent.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(byParent.get(member) ?? []));
  return family;
}

/** Returns the busy time of all processors since boot. */
export function machineBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}

/** Returns the fields of /proc/<pid>/stat from the third on; the second, the name, may contain spaces. */
function statFields(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** USER_HZ is 100 on every Linux that Node runs on. The time of a process that has exited is in its parent's. */
function ticksToMs(fields: readonly string[], indexes: readonly number[]): number {
  const exited = process.platform === "linux" ? "0" : "";
  return indexes.reduce((sum, index) => sum + Number(fields[index] ?? exited) * 10, 0);
}

/** Returns an empty text if the process has exited. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
