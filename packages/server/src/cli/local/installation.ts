// Opens the database, the keys and the library for the commands that run on this machine.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { keepEmbeddedPostgres, withProgress } from "@posthorn/embedded-postgres";
import type { Posthorn, PosthornOptions } from "posthorn";
import { checkOptions, isUnavailable, optionNames } from "posthorn/internal";
import { settings } from "../../config/settings.ts";
import { type Config, ConfigError } from "../../config.ts";
import type { LevelledLogger } from "../../logger.ts";
import { createSendMail, type SendMail } from "../../mail.ts";
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
  checkSettings(config, options.logger);
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
  const hooks = withSettingNames(() =>
    createPosthorn({ ...libraryOptions(config, logger), database, encryptionKeys }),
  );
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

/** Validates the settings before a database is created. */
export function checkSettings(config: Config, logger: LevelledLogger): void {
  withSettingNames(() => checkOptions({ ...libraryOptions(config, logger), database: "postgresql://" }));
}

/** Replaces option names in the library's errors by the names of the settings. */
function withSettingNames<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([toSettingName((error as Error).message)]);
  }
}

/** Settings that are options of the library have the same names. */
function libraryOptions(config: Config, logger: LevelledLogger): Omit<PosthornOptions, "database"> {
  const values: Readonly<Record<string, unknown>> = config;
  return {
    ...Object.fromEntries(optionNames.map((name) => [name, values[name]])),
    encryptionKeys: undefined,
    websub: config.websub ? settingsBelow(config, "websub") : undefined,
    sendMail: mailSenderOf(config),
    logger,
  };
}

/** Returns settings with a prefix, such as `portalName`, by their names without it. */
export function settingsBelow(config: Config, prefix: "websub" | "portal"): Record<string, never> {
  const ofPrefix = Object.entries(config).flatMap(([name, value]) => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : "";
    return rest === "" ? [] : [[rest.charAt(0).toLowerCase() + rest.slice(1), value]];
  });
  return Object.fromEntries(ofPrefix);
}

function mailSenderOf({ smtpUrl, mailFrom }: Config): SendMail | undefined {
  if (smtpUrl === undefined && mailFrom !== undefined) {
    throw new ConfigError([
      "POSTHORN_MAIL_FROM is set, but SMTP_URL is not. Set the mail server, or remove the sender.",
    ]);
  }
  if (smtpUrl === undefined) return undefined;
  if (mailFrom !== undefined) return createSendMail(smtpUrl, mailFrom);
  throw new ConfigError([
    "SMTP_URL is set, but POSTHORN_MAIL_FROM is not. Set it to the sender address, such as posthorn@example.com.",
  ]);
}

function toSettingName(message: string): string {
  const [option = ""] = /^\w+(\.\w+)?/.exec(message) ?? [];
  const wanted = option.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase());
  const setting = Object.entries(settings).find(([name]) => name === wanted)?.[1];
  return setting ? setting.env + message.slice(option.length) : message;
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
  if (databaseUrl === undefined || !URL.canParse(databaseUrl)) return "";
  const { hostname, port, pathname } = new URL(databaseUrl);
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
