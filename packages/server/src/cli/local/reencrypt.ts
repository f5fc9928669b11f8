// `posthorn reencrypt`: encrypts all endpoint secrets with the first key, so that older keys can be removed.
import type { Reencrypted } from "posthorn";
import { parseKeyRing } from "posthorn/internal";
import { readConfig } from "../../config.ts";
import { createLogger } from "../../logger.ts";
import { failed } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { jsonText } from "../terminal/text.ts";
import { renewCanary } from "./encryption-keys.ts";
import { openInstallation, requireDatabase } from "./installation.ts";
import { Lifetime } from "./lifetime.ts";

export interface ReencryptFlags {
  readonly json?: boolean;
  readonly dataDir?: string;
  readonly config?: string;
}

export async function reencrypt({ json, ...flags }: ReencryptFlags, terminal: Terminal): Promise<void> {
  const config = { ...(await readConfig({ env: terminal.env, flags })), migrate: "check" as const };
  const logger = createLogger({ level: config.logLevel, format: "json" });
  const lifetime = new Lifetime({ graceMs: config.shutdownTimeoutMs, logger });
  terminal.ending.addEventListener("abort", () => void lifetime.end());
  requireDatabase(config);
  try {
    const onProgress = (message: string): void => terminal.printError(message);
    const { hooks, keys } = await openInstallation({ config, logger, lifetime, onProgress });
    const result = await hooks.encryptionKeys.reencrypt();
    if (isComplete(result)) await renewCanary(hooks, keys);
    terminal.print(json ? jsonText(result) : describe(result, parseKeyRing(keys.keys).keyIds));
    if (!isComplete(result)) throw failed(describeIncomplete(result));
  } finally {
    await lifetime.end();
  }
}

function isComplete({ keyId, inUse }: Reencrypted): boolean {
  return inUse.every((used) => used.keyId === keyId);
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
    return `Some secrets still use a key other than "${keyId}": they were changed in the meantime, or a process still lists the old key first. Make sure that all list "${keyId}" first, then run it again.`;
  }
  return `${unreadable} secret(s) cannot be decrypted with the available keys and were not changed. Add their keys after "${keyId}", or rotate the secrets of their endpoints, and run it again.`;
}
