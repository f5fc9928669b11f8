// Inspects files, the database and the port of this machine. A failure becomes a check, never an exception.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openEmbeddedPostgres } from "@posthorn/embedded-postgres";
import { createPosthorn, type Posthorn } from "posthorn";
import { inspectDatabase, inspectInstallation } from "posthorn/internal";
import type { Config } from "../../config.ts";
import { processCount } from "../../processes/process-count.ts";
import { findEncryptionKeys, keyProblem, readCanary } from "../local/encryption-keys.ts";
import { hasDatabase } from "../local/installation.ts";
import { type Check, note, ok, problem, warning } from "./check.ts";
import { checkDatabase, checkWorkers } from "./check-database.ts";

export function inspectDataDir({ dataDir, encryptionKeys, databaseUrl }: Config): Check[] {
  const path = resolve(dataDir);
  const name = "data directory";
  if (!existsSync(path)) {
    const isNeeded = databaseUrl === undefined || encryptionKeys === undefined;
    if (!isNeeded || isWritable(nearestFolder(path)))
      return [note(name, `${path} is created on the first start.`)];
    const advice = "Set POSTHORN_DATA_DIR to a writable folder.";
    return [problem(name, `${path} cannot be created by this user.`, advice)];
  }
  if (!isWritable(path)) {
    const advice = "Make this user its owner, or set POSTHORN_DATA_DIR.";
    return [problem(name, `${path} cannot be written by this user.`, advice)];
  }
  return [ok(name, path), ...["encryption-keys", "admin-key"].flatMap((name) => inspectKeyFile(path, name))];
}

function inspectKeyFile(folder: string, name: string): Check[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  if ((statSync(path).mode & 0o077) === 0) return [ok(name, path)];
  return [problem(name, `${path} can be read by others.`, `Run: chmod 600 ${path}`)];
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export async function inspectConfiguredDatabase(config: Config): Promise<Check[]> {
  if (config.databaseUrl !== undefined) return await inspectConnection(config.databaseUrl, config);
  if (!hasDatabase(config)) {
    return [note("database", "The embedded PostgreSQL is created on the first start.")];
  }
  try {
    const embedded = await openEmbeddedPostgres({ dataDir: config.dataDir });
    try {
      return await inspectConnection(embedded.connectionString, config);
    } finally {
      await embedded.close();
    }
  } catch (error) {
    return [problem("database", messageOf(error), "Fix it, or set DATABASE_URL to your own PostgreSQL.")];
  }
}

async function inspectConnection(connectionString: string, config: Config): Promise<Check[]> {
  try {
    const facts = await inspectDatabase(connectionString);
    // an embedded server is started with enough connections
    const processes = config.databaseUrl === undefined ? 1 : processCount(config.processes);
    return [...checkDatabase(facts, processes), ...(await inspectSchema(connectionString, config))];
  } catch (error) {
    const advice =
      "Check host, port, user, password and database in DATABASE_URL, and that PostgreSQL is running.";
    return [problem("database", `The database cannot be reached: ${messageOf(error)}.`, advice)];
  }
}

async function inspectSchema(database: string, config: Config): Promise<Check[]> {
  const { schema, migrate } = config;
  const hooks = createPosthorn({ database, schema });
  try {
    const { version, pending } = await hooks.migrationStatus();
    if (pending.length === 0) {
      return [
        ok("schema", `"${schema}" is at version ${version}`),
        await inspectEncryptionKeys(hooks, database, config),
        checkWorkers(await inspectInstallation(database, schema)),
      ];
    }
    const message = `"${schema}" has ${pending.length} pending migration(s).`;
    return [
      migrate === "auto"
        ? note("schema", message, "The next start applies them.")
        : problem("schema", message, "Run: posthorn migrate"),
    ];
  } catch (error) {
    return [problem("schema", messageOf(error), "Run: posthorn migrate --status")];
  } finally {
    await hooks.stop();
  }
}

/** Checks the keys like `serve`, without generating one. */
async function inspectEncryptionKeys(hooks: Posthorn, database: string, config: Config): Promise<Check> {
  const name = "encryption keys";
  try {
    const found = findEncryptionKeys(config.encryptionKeys, config.dataDir);
    const canary = await readCanary(hooks);
    const wrong = canary === null ? null : keyProblem(canary, found);
    if (wrong !== null) return problem(name, wrong, "Until then the server does not start.");
    await checkSecrets(database, config.schema, found.keys);
    return canary === null
      ? note(name, "No server was started on this database yet.")
      : ok(name, "match the secrets in the database");
  } catch (error) {
    return problem(name, messageOf(error), "Until then workers do not start.");
  }
}

async function checkSecrets(database: string, schema: string, encryptionKeys: readonly string[]) {
  const hooks = createPosthorn({ database, schema, encryptionKeys });
  try {
    await hooks.encryptionKeys.check();
  } finally {
    await hooks.stop();
  }
}

const PROBE_MS = 3_000;

/** Checks that the port is free, or that a Posthorn server on it is ready. */
export async function inspectPort({ host, port }: Pick<Config, "host" | "port">): Promise<Check> {
  if (port === 0) return note("port", "any free port is used at start");
  const reachable =
    host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  const url = `http://${reachable}:${port}`;
  const response = await fetchJson(`${url}/healthz`);
  if (response === "refused") return ok("port", `${port} is free`);
  if (response === null || (response as { status?: string }).status !== "ok") {
    return problem("port", `Another program uses port ${port}.`, "Stop it, or set PORT to another port.");
  }
  const ready = (await fetchJson(`${url}/readyz`)) as { status?: string; reason?: string } | null;
  if (ready?.status === "ready") return ok("server", `running at ${url} and ready`);
  return warning(
    "server",
    `running at ${url} but not ready: ${ready?.reason ?? "no reason given"}`,
    "See its log.",
  );
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    return await response.json();
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: string };
    return code === "ECONNREFUSED" ? "refused" : null;
  }
}

function messageOf(error: unknown): string {
  const { message, code } = ((error as Error).cause ?? error) as { message?: string; code?: string };
  return message || code || String(error);
}
