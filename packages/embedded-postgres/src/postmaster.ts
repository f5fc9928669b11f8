// The running server of a cluster, known by the postmaster.pid it keeps there: found, waited for, stopped.
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
const answerWithinMs = 30_000;
/** A fast shutdown writes one checkpoint; longer than this and the disk is the problem. */
const fastShutdownMs = 60_000;

/**
 * The server to attach to: ready, whoever started it and whether or not that process still lives. Null when there is
 * none or it went away while we looked.
 */
export async function findPostmaster(home: Home): Promise<Postmaster | null> {
  const deadline = performance.now() + answerWithinMs;
  for (;;) {
    const found = readPidFile(home);
    if (found === null) return null;
    if (!isPostmaster(found.pid, home)) {
      await refuseIfInUseElsewhere(found, home);
      clearTraces(found, home);
      return null;
    }
    // One that was just killed still has its process and takes connections for a moment, but does not answer.
    if (found.status === "ready") {
      if (await answers(socketPath(found))) return found;
      if (performance.now() > deadline) throw doesNotAnswer(found, home);
    }
    await delay(pollMs);
  }
}

function doesNotAnswer({ pid }: Postmaster, home: Home): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "start_failed",
    `The PostgreSQL server of ${home.dir} (process ${pid}) runs but does not answer. End it with kill -QUIT ${pid}, ` +
      `then start again.`,
  );
}

export function isReady(home: Home, pid: number): Postmaster | null {
  const found = readPidFile(home);
  return found?.pid === pid && found.status === "ready" ? found : null;
}

/** Of the server that was killed; null when the last one ended in order. */
export function socketFolderBefore(home: Home): string | null {
  return readPidFile(home)?.socketDir || null;
}

/** Fast shutdown: ends connections, writes a checkpoint, so that the next start needs no recovery. */
export async function stopPostmaster(postmaster: Postmaster, home: Home): Promise<void> {
  if (isPostmaster(postmaster.pid, home)) process.kill(postmaster.pid, "SIGINT");
  const deadline = performance.now() + fastShutdownMs;
  while (isPostmaster(postmaster.pid, home)) {
    // Immediate shutdown: loses nothing that was committed, the next start replays the log.
    if (performance.now() > deadline) process.kill(postmaster.pid, "SIGQUIT");
    await delay(pollMs);
  }
  if (isTemporarySocketFolder(postmaster.socketDir))
    rmSync(postmaster.socketDir, { recursive: true, force: true });
}

/** A pid alone may be someone else's by now; the postmaster names its cluster on its command line. */
function isPostmaster(pid: number, home: Home): boolean {
  return commandLine(pid)?.includes(home.cluster) ?? false;
}

/** postmaster.pid, one value a line: pid, cluster, start time, port, socket folder, TCP address, memory key, status. */
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
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((_line, index, all) => index < all.length - 1);
  } catch {
    return [];
  }
}

const pidFilePath = (home: Home) => join(home.cluster, "postmaster.pid");
const socketPath = ({ socketDir, port }: Postmaster) => join(socketDir, `.s.PGSQL.${port}`);

/** Two containers on one volume do not see each other's processes, but they do reach each other's sockets. */
async function refuseIfInUseElsewhere(found: PidFile, home: Home): Promise<void> {
  if (found.socketDir === "" || !(await answers(socketPath(found)))) return;
  throw new EmbeddedPostgresError(
    "data_directory_in_use",
    `The database in ${home.cluster} is used by a server that this process cannot see, probably in another ` +
      `container. Stop that one, or let both use the same DATABASE_URL.`,
  );
}

/**
 * After kill -9 the files of the dead server stay. PostgreSQL would refuse to start when their pid is in use again, by
 * any process, or is a zombie nobody collected. The socket's files can go. postmaster.pid must stay: it also names the
 * shared memory by which PostgreSQL notices backends that outlived their postmaster. So only its pid is replaced, by
 * one no process can have.
 */
function clearTraces(dead: PidFile, home: Home): void {
  if (isTemporarySocketFolder(dead.socketDir) || dirname(dead.socketDir) === home.dir) {
    for (const file of [socketPath(dead), `${socketPath(dead)}.lock`]) rmSync(file, { force: true });
  }
  const lines = readFileSync(pidFilePath(home), "utf8").split("\n");
  writeFileSync(pidFilePath(home), [impossiblePid, ...lines.slice(1)].join("\n"));
}

const impossiblePid = String(2 ** 31 - 2);

/** Asks for TLS, the one question PostgreSQL answers before it knows who asks. Any answer will do. */
function answers(path: string): Promise<boolean> {
  const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write(sslRequest));
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once("data", () => settle(true));
    socket.once("end", () => settle(false));
    socket.once("error", () => settle(false));
  });
}
