// Programs of the system that tests run: PostgreSQL, pgbouncer and Redis, each in a temporary folder, and the browser.
// Root on a Debian installs missing ones; elsewhere their tests are skipped.
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { freePort } from "../../../benchmarks/system/ports.ts";
import { type Account, chooseAccount } from "../../../packages/embedded-postgres/src/account.ts";
import { postgresFolders } from "../database/own-postgres.ts";
import { eventually } from "../eventually.ts";

/** Returns the path of the first of these programs, after installing a package of that name if none is present. */
export function findProgram(...names: readonly string[]): string | null {
  return presentProgram(...names) ?? (names.some(installPackage) ? presentProgram(...names) : null);
}

/** Returns the path of the first of these programs that is present. */
export function presentProgram(...names: readonly string[]): string | null {
  const folders = ["/usr/sbin", ...(process.env.PATH ?? "").split(":")];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Returns the folder of the newest PostgreSQL's programs. */
export function findSystemPostgres(): string | null {
  return newestPostgres() ?? (installPackage("postgresql") ? newestPostgres() : null);
}

function newestPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  const folders = versions.sort((a, b) => b - a).map((version) => join(root, String(version), "bin"));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** Returns whether the package could be installed. RUNLEVEL=1 keeps Debian from starting its services. */
function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return false;
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  // apt-get fails while another test file runs it
  const lockFile = join(tmpdir(), "posthorn-apt-get.lock");
  const aptGet = (...args: string[]) =>
    execFileSync("flock", [lockFile, "apt-get", ...args], { env, stdio: "ignore", timeout: 120_000 });
  for (const prepare of [() => {}, () => aptGet("update")]) {
    try {
      prepare();
      aptGet("install", "-y", "--no-install-recommends", name);
      return true;
    } catch {
      // without package lists, or without a network
    }
  }
  return false;
}

export interface SystemServer {
  /** Sends SIGKILL and waits until the process has ended. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with what is on disk. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface RunningServer extends SystemServer {
  readonly connectionString: string;
}

/** Starts PostgreSQL under an unprivileged account. */
export async function startSystemPostgres(programs: string): Promise<RunningServer> {
  const folder = makePostgresFolder(chooseAccount(postgresFolders));
  const data = join(folder, "data");
  const initdb = ["-D", data, "-U", "posthorn", "-A", "trust", "-E", "UTF8", "--locale=C"];
  execFileSync(join(programs, "initdb"), initdb, { stdio: "ignore", cwd: folder, ...accountOf(folder) });
  const args = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=100"];
  return await startPostgresServer(
    folder,
    5432,
    "/postgres",
    [join(programs, "postgres"), ...args],
    "SIGINT",
  );
}

/** Connections that pgbouncer opens to the server at most. */
export const poolerConnections = 20;

/** Starts pgbouncer in transaction mode before the server of the connection string, which is a Unix socket. */
export async function startPgbouncer(program: string, server: string): Promise<RunningServer> {
  const { pathname, searchParams } = new URL(server);
  const [host, port] = [searchParams.get("host") as string, searchParams.get("port")];
  // the socket's own account is the one that may enter its folder
  const { uid, gid } = statSync(host);
  const folder = makePostgresFolder(process.getuid?.() === 0 ? { uid, gid } : null);
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(join(folder, "users.txt"), `"posthorn" ""\n`, { mode: 0o644 });
  writeFileSync(
    settings,
    `[databases]
* = host=${host} port=${port}
[pgbouncer]
pool_mode = transaction
listen_addr =
listen_port = 6432
unix_socket_dir = ${folder}
auth_type = trust
auth_file = ${join(folder, "users.txt")}
max_client_conn = 200
default_pool_size = ${poolerConnections}
server_login_retry = 1
`,
    { mode: 0o644 },
  );
  return await startPostgresServer(folder, 6432, pathname, [program, settings], "SIGTERM");
}

async function startPostgresServer(
  folder: string,
  port: number,
  database: string,
  command: readonly string[],
  endSignal: NodeJS.Signals,
): Promise<RunningServer> {
  const query = new URLSearchParams({ host: folder, port: String(port), user: "posthorn" });
  const connectionString = `postgresql://${database}?${query}`;
  const connect = async () => {
    const client = new pg.Client({ connectionString });
    client.on("error", () => {});
    await client.connect();
    await client.end();
  };
  const server = await startProgram(folder, command, connect, endSignal, accountOf(folder));
  return { ...server, connectionString };
}

function makePostgresFolder(account: Account | null): string {
  const folder = mkdtempSync(join(postgresFolders, "posthorn-system-"));
  if (account !== null) chownSync(folder, account.uid, account.gid);
  return folder;
}

function accountOf(folder: string): Partial<Account> {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}

/** The reason for which tests are skipped. */
export const withoutRedis = "needs redis-server 7.0 or later, which only root on a Debian can install";

type RedisAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/** Starts Redis on a Unix socket. Acknowledged writes are on disk. */
export async function startRedisServer(program: string): Promise<SystemServer & { readonly path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-redis-"));
  const path = join(folder, "redis.sock");
  const server = await startRedis(program, folder, ["--port", "0", "--unixsocket", path], { path });
  return { ...server, path };
}

/** Starts a cluster of one node with all slots. It rejects scripts that use other slots like a larger one. */
export async function startRedisCluster(program: string): Promise<SystemServer & { readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-redis-"));
  const host = "127.0.0.1";
  const [port, busPort] = [await freePort(), await freePort()];
  const ports = ["--bind", host, "--port", String(port), "--cluster-port", String(busPort)];
  const settings = [...ports, "--cluster-enabled", "yes", "--cluster-announce-ip", host];
  const server = await startRedis(program, folder, settings, { host, port });
  await withRedis({ host, port }, (client) => client.cluster("ADDSLOTSRANGE", 0, 16383));
  await eventually("the cluster is up", () =>
    withRedis({ host, port }, async (client) =>
      String(await client.cluster("INFO")).includes("cluster_state:ok"),
    ),
  );
  return { ...server, port };
}

function startRedis(
  program: string,
  folder: string,
  settings: readonly string[],
  address: RedisAddress,
): Promise<SystemServer> {
  const persistence = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const command = [program, ...settings, "--dir", folder, ...persistence];
  return startProgram(folder, command, () => withRedis(address, (client) => client.ping()), "SIGKILL");
}

async function withRedis<Result>(
  address: RedisAddress,
  work: (client: Redis) => Promise<Result>,
): Promise<Result> {
  const client = new Redis({ ...address, lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    client.disconnect();
  }
}

/** Runs a command in a folder, which `close` removes, and waits until `connect` succeeds. */
async function startProgram(
  folder: string,
  [program = "", ...args]: readonly string[],
  connect: () => Promise<unknown>,
  endSignal: NodeJS.Signals,
  options: SpawnOptions = {},
): Promise<SystemServer> {
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(program, args, { stdio: "ignore", cwd: folder, ...options });
    await eventually("the server responds", async () => {
      await connect();
      return true;
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    start,
    kill: () => end("SIGKILL"),
    async close() {
      await end(endSignal);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
