// The PostgreSQL and the pgbouncer of the system, run for one test in a temporary folder under an unprivileged account.
// Where they are not and cannot be installed, whoever needs them is skipped.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type Account, chooseAccount } from "../../packages/embedded-postgres/src/account.ts";
import { eventually } from "./eventually.ts";
import { postgresFolders } from "./postgres-folder.ts";
import { installPackage } from "./system-package.ts";

export interface RunningServer {
  readonly connectionString: string;
  close(): Promise<void>;
}

/** The folder of the newest PostgreSQL's programs, or null when there is none and none can be had. */
export function findSystemPostgres(): string | null {
  return newestPostgres() ?? (installPackage("postgresql") ? newestPostgres() : null);
}

export function findPgbouncer(): string | null {
  return presentPgbouncer() ?? (installPackage("pgbouncer") ? presentPgbouncer() : null);
}

function newestPostgres(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Boolean) : [];
  const folders = versions.sort((a, b) => b - a).map((version) => join(root, String(version), "bin"));
  return folders.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** Without installing anything. */
export function presentPgbouncer(): string | null {
  const folders = ["/usr/sbin", ...(process.env.PATH ?? "").split(":")];
  return folders.map((folder) => join(folder, "pgbouncer")).find((path) => existsSync(path)) ?? null;
}

export async function startSystemPostgres(programs: string): Promise<RunningServer> {
  const folder = makeFolder(chooseAccount(postgresFolders));
  const account = accountOf(folder);
  const data = join(folder, "data");
  const initdb = ["-D", data, "-U", "posthorn", "-A", "trust", "-E", "UTF8", "--locale=C"];
  execFileSync(join(programs, "initdb"), initdb, { stdio: "ignore", cwd: folder, ...account });
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=100"],
    { stdio: "ignore", cwd: folder, ...account },
  );
  const query = new URLSearchParams({ host: folder, port: "5432", user: "posthorn" });
  const connectionString = `postgresql:///postgres?${query}`;
  return await running(server, connectionString, folder, "SIGINT");
}

/** That pgbouncer opens to the server at most. */
export const poolerConnections = 20;

/** In transaction mode, before the server of the connection string, which is reached by a Unix socket. */
export async function startPgbouncer(program: string, server: string): Promise<RunningServer> {
  const { pathname, searchParams } = new URL(server);
  const [host, port] = [searchParams.get("host") as string, searchParams.get("port")];
  // the socket's own account is the one that may enter its folder
  const { uid, gid } = statSync(host);
  const folder = makeFolder(process.getuid?.() === 0 ? { uid, gid } : null);
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
  const child = spawn(program, [settings], { stdio: "ignore", cwd: folder, ...accountOf(folder) });
  const query = new URLSearchParams({ host: folder, port: "6432", user: "posthorn" });
  return await running(child, `postgresql://${pathname}?${query}`, folder, "SIGTERM");
}

async function running(
  child: ChildProcess,
  connectionString: string,
  folder: string,
  endSignal: NodeJS.Signals,
): Promise<RunningServer> {
  const ended = once(child, "exit");
  await eventually("the server answers", async () => {
    accessSync(folder);
    const client = new pg.Client({ connectionString });
    client.on("error", () => {});
    await client.connect();
    await client.end();
    return true;
  });
  return {
    connectionString,
    async close() {
      child.kill(endSignal);
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function makeFolder(account: Account | null): string {
  const folder = mkdtempSync(join(postgresFolders, "posthorn-system-"));
  if (account !== null) chownSync(folder, account.uid, account.gid);
  return folder;
}

function accountOf(folder: string): Partial<Account> {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}
