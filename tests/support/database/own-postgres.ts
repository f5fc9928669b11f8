// An embedded PostgreSQL that belongs to one test, which may therefore stop it, restart it and change its settings.
import { chmodSync, existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openEmbeddedPostgres } from "../../../packages/embedded-postgres/src/open.ts";
import { commandLine } from "../../../packages/embedded-postgres/src/process-identity.ts";
import { eventually } from "../eventually.ts";

// In memory if there is room: a database is hundreds of files, and ext4 does not reuse the inode of a deleted file for
// some seconds. Searching for others took half of the processor time of all tests.
const memory = "/dev/shm";
/** All servers of a run together need less than a quarter of it. */
const roomBytes = 4 * 2 ** 30;

export const postgresFolders = hasRoom() ? memory : tmpdir();

export function makePostgresFolder(prefix: string, parent: string = postgresFolders): string {
  const folder = mkdtempSync(join(parent, prefix));
  chmodSync(folder, 0o755); // if root runs the tests, PostgreSQL runs under another account, which needs access
  return folder;
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes;
}

export type OwnPostgres = Awaited<ReturnType<typeof openOwnPostgres>>;

export async function openOwnPostgres(settings: Record<string, string> = {}, parent?: string) {
  // a name by which the next run finds and removes the files of a killed one: see postgres-setup.ts
  const dataDir = makePostgresFolder(`posthorn-tests-${process.pid}-`, parent);
  let { connectionString, close } = await openEmbeddedPostgres({ dataDir, settings });
  const earlier: (typeof close)[] = [];
  return {
    get connectionString(): string {
      return connectionString;
    },
    /** The postmaster's, or null while it is stopped. */
    get pid(): number | null {
      return postmasterPid(dataDir);
    },
    /**
     * Stops like `pg_ctl stop -m immediate`: without a checkpoint, so the next start recovers. SIGKILL ends only the
     * postmaster; its other processes notice.
     */
    async stopImmediately(signal: "SIGQUIT" | "SIGKILL" = "SIGQUIT"): Promise<void> {
      process.kill(postmasterPid(dataDir) as number, signal);
      await eventually("the server is gone", () => postmasterPid(dataDir) === null);
    },
    async start(): Promise<void> {
      earlier.push(close);
      ({ connectionString, close } = await openEmbeddedPostgres({ dataDir, settings }));
    },
    /** On a separate connection, as superuser. */
    query: <Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> => queryOnce(connectionString, sql),
    async close(): Promise<void> {
      for (const leave of [...earlier, close]) await leave();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

export async function queryOnce<Row extends pg.QueryResultRow>(
  connectionString: string,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {}); // the query rejects too
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

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
