// Finds and stops the running server of a cluster by its postmaster.pid.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError } from "./error.ts";
import type { Home } from "./home.ts";
import { commandLine } from "./process-identity.ts";
import { isTemporarySocketFolder } from "./socket-folder.ts";

export interface Postmaster {
  pid: number;
  port: number;
  socketDir: string;
}

interface PidFile extends Postmaster {
  status: string;
}

const pollMs = 5;
const responseTimeoutMs = 30_000;
/** A fast shutdown only writes one checkpoint. */
const fastShutdownTimeoutMs = 60_000;

/**
 * Returns the server once it is ready, regardless of which process started it. Returns null if none is running.
 */
export async function findPostmaster(home: Home): Promise<Postmaster | null> {
  const deadline = performance.now() + responseTimeoutMs;
  for (;;) {
    const found = readPidFile(home);
    if (found === null) return null;
    if (!isPostmaster(found.pid, home)) {
      await rejectIfUsedElsewhere(found, home);
      cleanUpAfter(found, home);
      return null;
    }
    // A server that was just killed accepts connections for a moment, but does not respond.
    if (found.status === "ready") {
      if (await responds(socketPath(found))) return found;
      if (performance.now() > deadline) throw notResponding(found, home);
    }
    await delay(pollMs);
  }
}

function notResponding({ pid }: Postmaster, home: Home): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "start_failed",
    `The PostgreSQL server of ${home.dir} (process ${pid}) is running but does not respond. Stop it with kill -QUIT ${pid}, ` +
      `then start again.`,
  );
}

export function isReady(home: Home, pid: number): Postmaster | null {
  const found = readPidFile(home);
  return found?.pid === pid && found.status === "ready" ? found : null;
}

/** Returns the socket folder of a server that was killed, or null if the last one was stopped. */
export function previousSocketFolder(home: Home): string | null {
  return readPidFile(home)?.socketDir || null;
}

/** Stops the server with a fast shutdown, which writes a checkpoint, so that the next start needs no recovery. */
export async function stopPostmaster(postmaster: Postmaster, home: Home): Promise<void> {
  if (isPostmaster(postmaster.pid, home)) process.kill(postmaster.pid, "SIGINT");
  const deadline = performance.now() + fastShutdownTimeoutMs;
  while (isPostmaster(postmaster.pid, home)) {
    // An immediate shutdown loses no committed data: the next start replays the WAL.
    if (performance.now() > deadline) process.kill(postmaster.pid, "SIGQUIT");
    await delay(pollMs);
  }
  if (isTemporarySocketFolder(postmaster.socketDir))
    rmSync(postmaster.socketDir, { recursive: true, force: true });
}

/** Also checks the command line, which contains the cluster, because the pid may have been reused. */
function isPostmaster(pid: number, home: Home): boolean {
  return commandLine(pid)?.includes(home.cluster) ?? false;
}

/** Reads postmaster.pid, which has one value per line: pid, cluster, start time, port, socket folder, TCP address, memory key, status. */
function readPidFile(home: Home): PidFile | null {
  const lines = readLines(pidFilePath(home));
  const [pid, , , port, socketDir, , , status] = lines;
  if (pid === undefined) return null;
  return {
    pid: Number(pid),
    port: Number(port),
    socketDir: socketDir ?? "",
    status: status?.trim() ?? "starting",
  };
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

const pidFilePath = (home: Home) => join(home.cluster, "postmaster.pid");
const socketPath = ({ socketDir, port }: Postmaster) => join(socketDir, `.s.PGSQL.${port}`);

/** Two containers on one volume cannot see each other's processes, but can reach each other's sockets. */
async function rejectIfUsedElsewhere(found: PidFile, home: Home): Promise<void> {
  if (found.socketDir === "" || !(await responds(socketPath(found)))) return;
  throw new EmbeddedPostgresError(
    "data_directory_in_use",
    `The database in ${home.cluster} is used by a server that this process cannot see, probably in another ` +
      `container. Stop that server, or use the same DATABASE_URL in both.`,
  );
}

/**
 * Cleans up after a server that was killed. PostgreSQL would refuse to start if the old pid is in use again. The socket
 * files can be deleted. postmaster.pid must be kept, because it names the shared memory by which PostgreSQL detects
 * backends that outlived their postmaster. So only the pid in it is replaced, by an impossible one.
 */
function cleanUpAfter(dead: PidFile, home: Home): void {
  if (isTemporarySocketFolder(dead.socketDir) || dirname(dead.socketDir) === home.dir) {
    for (const file of [socketPath(dead), `${socketPath(dead)}.lock`]) rmSync(file, { force: true });
  }
  const lines = readFileSync(pidFilePath(home), "utf8").split("\n");
  writeFileSync(pidFilePath(home), [impossiblePid, ...lines.slice(1)].join("\n"));
}

const impossiblePid = String(2 ** 31 - 2);

/** Sends an SSLRequest, which PostgreSQL responds to before authentication. Any response counts. */
function responds(path: string): Promise<boolean> {
  const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write(sslRequest));
    const settle = (hasResponded: boolean) => {
      socket.destroy();
      resolve(hasResponded);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once("data", () => settle(true));
    socket.once("end", () => settle(false));
    socket.once("error", () => settle(false));
  });
}
