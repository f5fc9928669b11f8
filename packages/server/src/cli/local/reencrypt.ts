// `posthorn reencrypt`: encrypts all endpoint secrets with the first key, so that older keys can be removed.
import type { Command } from "commander";
import type { Reencrypted } from "posthorn";
import { loadConfig } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import { CliError } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText } from "../terminal/text.ts";
import { renewCanary } from "./encryption-keys.ts";
import { openInstallation, requireDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

interface ReencryptFlags {
  readonly json?: boolean;
  readonly dataDir?: string;
}

export function addReencrypt(program: Command, terminal: Terminal): void {
  program
    .command("reencrypt")
    .description("encrypt all endpoint secrets with the first encryption key, while servers run")
    .option("--json", "print JSON")
    .option("--data-dir <folder>", "embedded database and keys (POSTHORN_DATA_DIR, default .posthorn)")
    .action((flags: ReencryptFlags) => reencrypt(terminal, flags));
}

async function reencrypt(terminal: Terminal, { json, ...flags }: ReencryptFlags): Promise<void> {
  const config = { ...loadConfig({ env: terminal.env, flags }), migrate: "check" as const };
  const logger = createLogger({ level: config.logLevel, format: "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  terminal.ending.addEventListener("abort", () => void lifetime.end());
  requireDatabase(config);
  try {
    const onProgress = (message: string): void => terminal.printError(message);
    const { hooks, keys } = await openInstallation({ config, logger, lifetime, onProgress });
    const result = await hooks.encryptionKeys.reencrypt();
    if (isComplete(result)) await renewCanary(hooks, keys);
    terminal.print(json ? jsonText(result) : describe(result, keys.keys.map(idOf)));
    if (!isComplete(result)) throw new CliError("failed", describeIncomplete(result));
  } finally {
    await lifetime.end();
  }
}

function isComplete({ keyId, inUse }: Reencrypted): boolean {
  return inUse.every((used) => used.keyId === keyId);
}

function idOf(key: string): string {
  return key.slice(0, key.indexOf(":"));
}

function describe(result: Reencrypted, keyIds: readonly string[]): string {
  const { keyId, reencrypted, inUse } = result;
  const removable = keyIds.filter((id) => id !== keyId);
  return [
    `Re-encrypted with the key "${keyId}": ${reencrypted}.`,
    ...inUse.map((used) => `Secrets encrypted with the key "${used.keyId}": ${used.count}.`),
    ...(isComplete(result) && removable.length > 0
      ? [
          `${removable.map((id) => `"${id}"`).join(", ")} can be removed when every process lists "${keyId}" first.`,
        ]
      : []),
  ].join("\n");
}

function describeIncomplete({ keyId, unreadable }: Reencrypted): string {
  if (unreadable === 0) {
    return `Some secrets still use another key than "${keyId}": they were changed meanwhile, or a process still lists the old key first. Make sure that all list "${keyId}" first, then run it again.`;
  }
  return `${unreadable} secret(s) cannot be decrypted with the available keys and were not changed. Add their keys after "${keyId}", or rotate the secrets of their endpoints, and run it again.`;
}
