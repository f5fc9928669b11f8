// Tells whether the process that left a file behind is still the one running under that pid. A pid alone is not
// enough: pids are reused, after a reboot or in a fresh container within seconds.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A pid and when that process began, as one word without slashes: fit for a file name or a link target. */
export type ProcessIdentity = string;

export function ownIdentity(): ProcessIdentity {
  return `${process.pid}@${startMark(process.pid) ?? "unknown"}`;
}

export function isAlive(identity: ProcessIdentity): boolean {
  const [pid, mark] = identity.split("@");
  return mark !== undefined && startMark(Number(pid)) === mark;
}

export function pidOf(identity: ProcessIdentity): number {
  return Number.parseInt(identity, 10);
}

/** The command line of a running process, or null when there is none. A zombie does not run. */
export function commandLine(pid: number): string[] | null {
  if (startMark(pid) === null) return null;
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
      : ps(pid, "command").split(" ");
  } catch {
    return null;
  }
}

function startMark(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  try {
    return process.platform === "linux" ? linuxStartMark(pid) : bsdStartMark(pid);
  } catch {
    return null;
  }
}

function linuxStartMark(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name may hold spaces and brackets, so fields are counted after its last bracket (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ticksSinceBoot] = [fields[0], fields[19]];
  if (state === "Z" || state === "X" || ticksSinceBoot === undefined) return null;
  return `${bootId()}-${ticksSinceBoot}`;
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
}

function bsdStartMark(pid: number): string | null {
  if (ps(pid, "stat").startsWith("Z")) return null;
  return ps(pid, "lstart").replace(/\W+/g, "-");
}

function ps(pid: number, column: string): string {
  return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
}
