// `posthorn migrate`: applies pending migrations, or shows them.
import { statusOfNewDatabase } from "posthorn/internal";
import { readConfig } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { hasDatabase, openDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

export interface MigrateFlags {
  readonly dryRun?: boolean;
  readonly status?: boolean;
  readonly json?: boolean;
  readonly dataDir?: string;
  readonly config?: string;
}

export async function migrate(
  { dryRun, status, json, ...flags }: MigrateFlags,
  { print, printError }: Terminal,
): Promise<void> {
  const show = <T extends object>(result: T, describe: (result: T) => string): void =>
    print(json ? JSON.stringify(result, null, 2) : describe(result));
  const config = await readConfig({ env: process.env, flags });
  if ((status || dryRun) && !hasDatabase(config)) {
    const { script, ...survey } = statusOfNewDatabase(config.schema);
    if (!json) printError("There is no database yet; `posthorn migrate` or the first start creates it.");
    if (status) show(survey, describeStatus);
    else show({ ...survey, script }, () => script);
    return;
  }
  const logger = createLogger({ level: config.logLevel, format: "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  lifetime.listenForSignals();
  try {
    const { hooks } = await openDatabase({ config, logger, lifetime, onProgress: printError });
    if (status) show(await hooks.migrationStatus(), describeStatus);
    else if (dryRun) show(await hooks.migrate({ dryRun: true }), ({ script }) => script || "Nothing to do.");
    else show(await hooks.migrate(), describeApplied);
  } finally {
    await lifetime.end();
  }
}

interface Named {
  readonly version: number;
  readonly name: string;
}

interface Status {
  readonly applied: readonly Named[];
  readonly pending: readonly Named[];
  readonly version: number;
}

function describeApplied({ applied, version }: Omit<Status, "pending">): string {
  if (applied.length === 0) return `Nothing to do: the database is at version ${version}.`;
  return [...applied.map(line("applied")), `The database is at version ${version}.`].join("\n");
}

function describeStatus({ applied, pending, version }: Status): string {
  const state =
    pending.length === 0 ? "Nothing is pending." : "Run `posthorn migrate` to apply pending migrations.";
  const lines = [...applied.map(line("applied")), ...pending.map(line("pending"))];
  return [`The database is at version ${version}. ${state}`, ...lines].join("\n");
}

function line(state: string): (migration: Named) => string {
  return ({ version, name }) => `  ${state}  ${String(version).padStart(4, "0")} ${name}`;
}
