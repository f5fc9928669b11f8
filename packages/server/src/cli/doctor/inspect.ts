// Inspects files, the database and the port of this machine. A failure becomes a check, never an exception.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openEmbeddedPostgres } from "@posthorn/embedded-postgres";
import { createPosthorn, type Posthorn } from "posthorn";
import { inspectDatabase, inspectInstallation } from "posthorn/internal";
import { type Config, ConfigError } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import { findEncryptionKeys, keyProblem, readCanary } from "../local/encryption-keys.ts";
import { checkSettings, hasDatabase } from "../local/installation.ts";
import { type Check, note, ok, problem, warning } from "./check.ts";
import { checkDatabase } from "./check-database.ts";
import { checkWorkers } from "./check-workers.ts";

export function inspectSettings(config: Config): Check {
  try {
    checkSettings(config, createLogger({ level: "silent", format: "json" }));
    return ok("settings", "all can be used");
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return problem("settings", error.problems.join(" "), "Correct it, then run this again.");
  }
}

export function inspectDataDir({ dataDir, encryptionKeys, databaseUrl }: Config): Check[] {
  const path = resolve(dataDir);
  if (!existsSync(path)) {
    const isNeeded = databaseUrl === undefined || encryptionKeys === undefined;
    return isNeeded && !isWritable(nearestFolder(path))
      ? [
          problem(
            "data directory",
            `${path} cannot be made by this user.`,
            "Set POSTHORN_DATA_DIR to a folder it may write to.",
          ),
        ]
      : [note("data directory", `${path} is made on the first start.`)];
  }
  if (!isWritable(path)) {
    return [
      problem(
        "data directory",
        `${path} cannot be written by this user.`,
        "Give it to this user, or set POSTHORN_DATA_DIR.",
      ),
    ];
  }
  return [
    ok("data directory", path),
    ...["encryption-keys", "admin-key"].flatMap((name) => inspectKeyFile(path, name)),
  ];
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
    return [note("database", "The embedded PostgreSQL is made on the first start.")];
  }
  try {
    const embedded = await openEmbeddedPostgres({ dataDir: config.dataDir });
    try {
      return await inspectConnection(embedded.connectionString, config);
    } finally {
      await embedded.close();
    }
  } catch (error) {
    return [
      problem("database", messageOf(error), "Set it right, or set DATABASE_URL to a PostgreSQL of your own."),
    ];
  }
}

async function inspectConnection(connectionString: string, config: Config): Promise<Check[]> {
  try {
    const facts = await inspectDatabase(connectionString);
    return [...checkDatabase(facts), ...(await inspectSchema(connectionString, config))];
  } catch (error) {
    const advice =
      "Check DATABASE_URL: host, port, user, password and database, and that PostgreSQL runs there.";
    return [problem("database", `It cannot be reached: ${messageOf(error)}.`, advice)];
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
    const message = `"${schema}" lacks ${pending.length} migration(s).`;
    return [
      migrate === "auto"
        ? note("schema", message, "They are applied by the next start.")
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
    if (wrong !== null) return problem(name, wrong, "Until then no server starts here.");
    await checkSecrets(database, config.schema, found.keys);
    return canary === null
      ? note(name, "No server was started on this database yet.")
      : ok(name, "fit the secrets in the database");
  } catch (error) {
    return problem(name, messageOf(error), "Until then no worker starts here.");
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
  if (port === 0) return note("port", "any free one is taken at start");
  const reachable =
    host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  const url = `http://${reachable}:${port}`;
  const answer = await ask(`${url}/healthz`);
  if (answer === "nobody") return ok("port", `${port} is free`);
  if (answer === null || (answer as { status?: string }).status !== "ok") {
    return problem("port", `Something else answers on port ${port}.`, "Stop it, or set PORT to another one.");
  }
  const ready = (await ask(`${url}/readyz`)) as { status?: string; reason?: string } | null;
  if (ready?.status === "ready") return ok("server", `answers at ${url} and is ready`);
  return warning(
    "server",
    `answers at ${url} and is not ready: ${ready?.reason ?? "it does not say why"}`,
    "See its log.",
  );
}

async function ask(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    return await response.json();
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: string };
    return code === "ECONNREFUSED" ? "nobody" : null;
  }
}

function messageOf(error: unknown): string {
  const { message, code } = ((error as Error).cause ?? error) as { message?: string; code?: string };
  return message || code || String(error);
}
