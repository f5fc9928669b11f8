// Checks whether the process that created a file is still running. A pid alone is not enough, because pids are reused: in
// a new container within seconds.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Pid and start time of a process, valid as a file name and link target. */
export type ProcessIdentity = string;

export function ownIdentity(): ProcessIdentity {
  return `${process.pid}@${startTime(process.pid) ?? "unknown"}`;
}

export function isAlive(identity: ProcessIdentity): boolean {
  const [pid, mark] = identity.split("@");
  return mark !== undefined && startTime(Number(pid)) === mark;
}

export function pidOf(identity: ProcessIdentity): number {
  return Number.parseInt(identity, 10);
}

/** Returns the command line of a running process, or null. A zombie is not running. */
export function commandLine(pid: number): string[] | null {
  if (startTime(pid) === null) return null;
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1)
      : ps(pid, "command").split(" ");
  } catch {
    return null;
  }
}

function startTime(pid: number): string | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  try {
    return process.platform === "linux" ? linuxStartTime(pid) : bsdStartTime(pid);
  } catch {
    return null;
  }
}

function linuxStartTime(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name may contain spaces and brackets, so fields are counted after the last bracket (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ticksSinceBoot] = [fields[0], fields[19]];
  if (state === "Z" || state === "X" || ticksSinceBoot === undefined) return null;
  return `${bootId()}-${ticksSinceBoot}`;
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
}

function bsdStartTime(pid: number): string | null {
  if (ps(pid, "stat").startsWith("Z")) return null;
  return ps(pid, "lstart").replace(/\W+/g, "-");
}

function ps(pid: number, column: string): string {
  return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
}
