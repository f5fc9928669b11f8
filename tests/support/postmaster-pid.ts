// Which process serves a data directory, found as an administrator would: by its postmaster.pid.
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../packages/embedded-postgres/src/process-identity.ts";

export function clusterOf(dataDir: string): string {
  const home = join(dataDir, "postgres");
  return join(linkTarget(home) ?? home, "data");
}

/** The pid in postmaster.pid if the server of this data directory runs under it, else null. */
export function postmasterPid(dataDir: string): number | null {
  const cluster = clusterOf(dataDir);
  try {
    const pid = Number.parseInt(readFileSync(join(cluster, "postmaster.pid"), "utf8"), 10);
    return commandLine(pid)?.includes(cluster) ? pid : null;
  } catch {
    return null;
  }
}

export function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
