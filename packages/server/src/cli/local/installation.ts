// Opens the database, the keys and the library for the commands that run on this machine.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { keepEmbeddedPostgres, withProgress } from "@posthorn/embedded-postgres";
import { parseUrl } from "@posthorn/wire";
import type { Posthorn } from "posthorn";
import { isUnavailable } from "posthorn/internal";
import { libraryOptions } from "../../config/library-options.ts";
import type { Config } from "../../config.ts";
import type { LevelledLogger } from "../../logger.ts";
import { type CliError, failed } from "../failure.ts";
import { checkEncryptionKeys, type EncryptionKeys, resolveEncryptionKeys } from "./encryption-keys.ts";
import type { Lifetime } from "./lifetime.ts";

export interface Installation {
  readonly hooks: Posthorn;
  readonly isEmbedded: boolean;
  /** The URL of the database, also of an embedded one. */
  readonly databaseUrl: string;
}

export interface InstallationOptions {
  readonly config: Config;
  readonly logger: LevelledLogger;
  readonly lifetime: Lifetime;
  readonly onProgress: (message: string) => void;
  /** Connections that an embedded database should allow. Default: 100. */
  readonly maxConnections?: number;
}

/** Opens and migrates the database as configured, and checks the keys. Does not start workers. */
export async function openInstallation(
  options: InstallationOptions,
): Promise<Installation & { readonly keys: EncryptionKeys }> {
  const { config, onProgress } = options;
  const keys = resolveEncryptionKeys(config.encryptionKeys, config.dataDir);
  const installation = await openDatabase(options, keys.keys);
  const { hooks } = installation;
  await withProgress("Preparing the database", onProgress, () => prepareSchema(hooks, config));
  await checkEncryptionKeys(hooks, keys).catch((error) => Promise.reject(explainMissing(error, config)));
  if (keys.isNew) options.logger.info("generated an encryption key; keep a copy of it", { file: keys.path });
  return { ...installation, keys };
}

/** Throws if there is no database, for commands that must not create one. */
export function requireDatabase(config: Config): void {
  if (hasDatabase(config)) return;
  throw failed(
    `There is no database in ${resolve(config.dataDir)}; the first start creates one. Set another data directory with --data-dir or POSTHORN_DATA_DIR, or a database with DATABASE_URL.`,
  );
}

/** Returns false if opening would create an embedded database. */
export function hasDatabase({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, "postgres", "data"));
}

/** Without encryption keys it is sufficient for migrations only. */
export async function openDatabase(
  options: InstallationOptions,
  encryptionKeys?: readonly string[],
): Promise<Installation> {
  const { config, logger, lifetime, onProgress } = options;
  // the engine is loaded while the embedded PostgreSQL starts
  const [database, { createPosthorn }] = await Promise.all([
    config.databaseUrl ?? openEmbedded(options),
    import("posthorn"),
  ]);
  const hooks = createPosthorn({ ...libraryOptions(config), logger, database, encryptionKeys });
  lifetime.onEnd((graceMs) => hooks.stop({ graceMs }));
  let reason = "";
  await withProgress(
    () => `Waiting for the database${addressOf(config.databaseUrl)}${reason}`,
    onProgress,
    () =>
      waitUntilReachable(hooks, (error) => {
        const { code, message } = causeOf(error);
        reason = `: ${code ?? message}`;
      }),
  );
  return { hooks, isEmbedded: config.databaseUrl === undefined, databaseUrl: database };
}

async function openEmbedded({
  config,
  logger,
  lifetime,
  onProgress,
  maxConnections,
}: InstallationOptions): Promise<string> {
  const settings = maxConnections === undefined ? {} : { max_connections: String(maxConnections) };
  const opening = keepEmbeddedPostgres({ dataDir: config.dataDir, settings, onProgress, logger });
  // Registered before it is open, so that a signal during the start does not leave a server running.
  const close = async (): Promise<void> => (await opening.catch(() => null))?.close();
  lifetime.onEnd(close, { alsoWhenForced: true });
  return (await opening).connectionString;
}

// When both start together, the database may become ready later.
const WAIT_TIMEOUT_MS = 30_000;
const RETRY_MS = 500;

async function waitUntilReachable(hooks: Posthorn, onFailure: (error: unknown) => void): Promise<void> {
  const deadline = performance.now() + WAIT_TIMEOUT_MS;
  for (;;) {
    try {
      await hooks.migrationStatus();
      return;
    } catch (error) {
      if (!isUnavailable(error)) throw explain(error);
      if (performance.now() > deadline) throw unreachable(error);
      onFailure(error);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

function unreachable(error: unknown): CliError {
  const { message, code } = causeOf(error);
  return failed(
    `The database cannot be reached: ${message || code}. ` +
      "Check DATABASE_URL and that PostgreSQL is running.",
    { cause: error },
  );
}

/** Returns the cause, because the library's own message is for programs. */
function causeOf(error: unknown): { readonly message?: string; readonly code?: string } {
  return ((error as Error).cause ?? error) as { message?: string; code?: string };
}

/** Returns ` at host:5432/name` without credentials, or an empty string for other forms of URLs. */
function addressOf(databaseUrl: string | undefined): string {
  const url = databaseUrl === undefined ? null : parseUrl(databaseUrl);
  if (url === null) return "";
  const { hostname, port, pathname } = url;
  return hostname === "" ? "" : ` at ${hostname}:${port || 5432}${pathname}`;
}

/** SQLSTATE 28xxx is a failed login, 3D000 an unknown database. */
function explain(error: unknown): unknown {
  const { code = "", message } = error as { code?: string; message?: string };
  if (!/^(28...|3D000)$/.test(code)) return error;
  return failed(
    `The database rejected the connection: ${message}. Check user, password and database in DATABASE_URL.`,
    {
      cause: error,
    },
  );
}

async function prepareSchema(hooks: Posthorn, { migrate, schema }: Config): Promise<void> {
  if (migrate === "auto") await hooks.migrate();
  if (migrate !== "check") return;
  const { pending } = await hooks.migrationStatus();
  if (pending.length === 0) return;
  throw failed(`The schema "${schema}" has ${pending.length} pending migration(s). ${MIGRATE}`);
}

const MIGRATE = "Run `posthorn migrate`, or set POSTHORN_MIGRATE=auto.";

/** With POSTHORN_MIGRATE=off a missing schema is noticed by the first query. */
function explainMissing(error: unknown, { schema }: Config): unknown {
  if ((error as { code?: string }).code !== "schema_missing") return error;
  return failed(`The schema "${schema}" does not exist in this database. ${MIGRATE}`, {
    cause: error,
  });
}
