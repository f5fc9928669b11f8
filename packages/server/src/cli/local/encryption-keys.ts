// The keys that encrypt endpoint secrets: the configured ones, or one generated on first start. A process with a wrong key
// could not sign, so it must not start: a canary in the database, encrypted with the key, detects that.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Posthorn } from "posthorn";
import { encryptionKeys as parseKeys } from "../../config/parsers.ts";
import { readKeyFile, readOrCreateKeyFile } from "./key-file.ts";

export interface EncryptionKeys {
  /** `id:base64` pairs; the first one encrypts. */
  readonly keys: readonly string[];
  /** The key file; null if the keys are configured. */
  readonly path: string | null;
  readonly isNew: boolean;
}

export class EncryptionKeyError extends Error {
  override readonly name = "EncryptionKeyError";
}

export function resolveEncryptionKeys(
  configured: readonly string[] | undefined,
  dataDir: string,
): EncryptionKeys {
  if (configured !== undefined) return { keys: configured, path: null, isNew: false };
  const path = join(dataDir, FILE_NAME);
  const file = readOrCreateKeyFile(path, () => `k1:${randomBytes(32).toString("base64")}`);
  return { keys: readKeys(file.content, path), path, isNew: file.isNew };
}

/** Returns the existing keys without generating one. */
export function findEncryptionKeys(
  configured: readonly string[] | undefined,
  dataDir: string,
): EncryptionKeys {
  if (configured !== undefined) return { keys: configured, path: null, isNew: false };
  const path = join(dataDir, FILE_NAME);
  const file = readKeyFile(path);
  return { keys: file === null ? [] : readKeys(file.content, path), path, isNew: false };
}

const FILE_NAME = "encryption-keys";

function readKeys(content: string, path: string): readonly string[] {
  try {
    return parseKeys(content);
  } catch (error) {
    throw new EncryptionKeyError(`The file ${path} ${(error as Error).message}. Restore the original file.`);
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
  throw new EncryptionKeyError(problem);
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
  if (opensCanary(canary, keys)) return null;
  const [id = ""] = canary.split(" ");
  // a newly generated key always has the id k1, so an equal id means nothing
  if (!isNew && keys.some((pair) => split(pair).id === id)) {
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

/** `key-id base64(iv, tag, ciphertext)` of a constant. */
function createCanary([first = ""]: readonly string[]): string {
  const { id, key } = split(first);
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  const ciphertext = Buffer.concat([cipher.update(CANARY_TEXT), cipher.final()]);
  return `${id} ${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString("base64")}`;
}

function opensCanary(canary: string, keys: readonly string[]): boolean {
  const [id, sealed = ""] = canary.split(" ");
  const bytes = Buffer.from(sealed, "base64");
  const match = keys.map(split).find((candidate) => candidate.id === id);
  if (!match) return false;
  try {
    const decipher = createDecipheriv("aes-256-gcm", match.key, bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString() === CANARY_TEXT;
  } catch {
    return false;
  }
}

function split(pair: string): { id: string; key: Buffer } {
  const colon = pair.indexOf(":");
  return { id: pair.slice(0, colon), key: Buffer.from(pair.slice(colon + 1), "base64") };
}
