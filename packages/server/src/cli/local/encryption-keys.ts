// The keys that encrypt endpoint secrets: the configured ones, or one generated on first start. A process with a wrong key
// could not sign, so it must not start: a canary in the database, encrypted with the key, detects that.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Posthorn } from "posthorn";
import { generateEncryptionKey, parseKeyRing } from "posthorn/internal";
import { encryptionKeys as parseKeys } from "../../config/parsers.ts";
import { failed } from "../failure.ts";
import { type KeyFile, readKeyFile, readOrCreateKeyFile } from "./key-file.ts";

export interface EncryptionKeys {
  /** `id:base64` pairs; the first one encrypts. */
  readonly keys: readonly string[];
  /** The key file; null if the keys are configured. */
  readonly path: string | null;
  readonly isNew: boolean;
}

/** Generates a key if there is none. */
export function resolveEncryptionKeys(
  configured: readonly string[] | undefined,
  dataDir: string,
): EncryptionKeys {
  return keysOf(configured, dataDir, (path) => readOrCreateKeyFile(path, () => generateEncryptionKey()));
}

/** Returns the existing keys without generating one. */
export function findEncryptionKeys(
  configured: readonly string[] | undefined,
  dataDir: string,
): EncryptionKeys {
  return keysOf(configured, dataDir, readKeyFile);
}

function keysOf(
  configured: readonly string[] | undefined,
  dataDir: string,
  read: (path: string) => KeyFile | null,
): EncryptionKeys {
  if (configured !== undefined) return { keys: configured, path: null, isNew: false };
  const path = join(dataDir, "encryption-keys");
  const file = read(path);
  return { keys: file === null ? [] : readKeys(file.content, path), path, isNew: file?.isNew ?? false };
}

function readKeys(content: string, path: string): readonly string[] {
  try {
    return parseKeys(content);
  } catch (error) {
    throw failed(`The file ${path} ${(error as Error).message}. Restore the original file.`);
  }
}

/** Throws if the database was set up with a key that is not among these. */
export async function checkEncryptionKeys(hooks: Posthorn, found: EncryptionKeys): Promise<void> {
  const { keys, path, isNew } = found;
  const canary = (await readCanary(hooks)) ?? (await hooks.meta.setOnce(CANARY_META, createCanary(keys)));
  const problem = keyProblem(canary, found);
  if (problem === null) return;
  // A useless new key must not be found by the next start.
  if (path !== null && isNew) rmSync(path, { force: true });
  throw failed(problem);
}

/** Returns null if no server was started on this database yet. */
export async function readCanary(hooks: Posthorn): Promise<string | null> {
  return await hooks.meta.get(CANARY_META);
}

/** Encrypts the canary with the first key, after all secrets were. */
export async function renewCanary(hooks: Posthorn, { keys }: EncryptionKeys): Promise<void> {
  const canary = await readCanary(hooks);
  if (canary !== null) await hooks.meta.replace(CANARY_META, canary, createCanary(keys));
}

/** Returns why the keys do not match the database, or null if they do. */
export function keyProblem(canary: string, { keys, path, isNew }: EncryptionKeys): string | null {
  const [id = ""] = canary.split(" ");
  if (opensCanary(canary, keys)) return null;
  // a newly generated key always has the id k1, so an equal id means nothing
  if (!isNew && parseKeyRing(keys).keyIds.includes(id)) {
    return (
      `The encryption key "${id}" differs from the one that this database was set up with, although it has the same id. ` +
      `Restore the original. A new key needs a new id and goes first: k2:<new>,${id}:<original>.`
    );
  }
  return (
    `The endpoint secrets in this database are encrypted with the key "${id}", which is not available here. ` +
    `Copy it from the machine that has it: the file encryption-keys in its data directory${path === null ? "" : ` to ${path}`}, ` +
    `or its POSTHORN_ENCRYPTION_KEYS. To remove "${id}", run posthorn reencrypt with it listed after the new key.`
  );
}

const CANARY_META = "encryption_canary";
const CANARY_TEXT = "posthorn";

/** `key-id base64(ciphertext)` of a constant. */
function createCanary(keys: readonly string[]): string {
  const { keyId, ciphertext } = parseKeyRing(keys).encrypt(CANARY_TEXT, CANARY_META);
  return `${keyId} ${ciphertext.toString("base64")}`;
}

function opensCanary(canary: string, keys: readonly string[]): boolean {
  const [keyId = "", text = ""] = canary.split(" ");
  try {
    const ciphertext = Buffer.from(text, "base64");
    return parseKeyRing(keys).decrypt({ keyId, ciphertext }, CANARY_META) === CANARY_TEXT;
  } catch {
    return false;
  }
}
