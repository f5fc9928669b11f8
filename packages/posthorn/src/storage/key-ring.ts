// Endpoint secrets are needed in plain text for signing, so they are encrypted with AES-256-GCM, not hashed. The first
// key encrypts and all keys decrypt, so a key is replaced by putting a new one in front. Errors never contain a key or
// a plaintext.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { PosthornError } from "../errors.ts";

interface Encrypted {
  readonly keyId: string;
  /** IV (12 bytes), tag (16), then the encrypted text. */
  readonly ciphertext: Buffer;
}

/** Parses `id:base64,id2:base64`, or a list of such items. Without keys, the ring fails at the first use. */
export function parseKeyRing(input: string | readonly string[] | undefined): KeyRing {
  const items = (typeof input === "string" ? input.split(",") : (input ?? [])).map((item) => item.trim());
  const keys = new Map<string, KeyObject>();
  for (const [index, item] of items.filter((text) => text !== "").entries()) {
    const { id, key } = parseKey(item, index);
    if (keys.has(id)) throw invalid(`two encryption keys have the id "${id}". Give each its own.`);
    keys.set(id, key);
  }
  return new KeyRing(keys);
}

/** The row to which the ciphertext of a secret is bound. */
export function secretBinding(endpointId: string, secretId: string): string {
  return `endpoint_secrets|${endpointId}|${secretId}`;
}

/** Generates a key for POSTHORN_ENCRYPTION_KEYS. */
export function generateEncryptionKey(id = "k1"): string {
  return `${id}:${randomBytes(KEY_BYTES).toString("base64")}`;
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = "aes-256-gcm";

function parseKey(item: string, index: number): { id: string; key: KeyObject } {
  const nth = `encryption key number ${index + 1}`;
  // the text before the colon might be the key itself, so only a short id is repeated in the error
  const [, id, base64] = /^([A-Za-z0-9_.-]{1,32}):(.*)$/.exec(item) ?? [];
  if (id === undefined || base64 === undefined) {
    throw invalid(`${nth} is not written as id:base64, where the id has up to 32 letters, digits, _ . or -.`);
  }
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw invalid(`${nth} ("${id}") is not base64 after the colon.`);
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length !== KEY_BYTES) {
    throw invalid(
      `${nth} ("${id}") has ${bytes.length} bytes. It needs ${KEY_BYTES}: make one with openssl rand -base64 32.`,
    );
  }
  return { id, key: createSecretKey(bytes) };
}

function invalid(message: string): PosthornError {
  return new PosthornError("invalid_config", `The encryption keys are not valid: ${message}`);
}

export class KeyRing {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  constructor(keys: ReadonlyMap<string, KeyObject>) {
    this.#keys = keys;
  }

  get keyIds(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Id of the encrypting key; throws if there is none. */
  get firstKeyId(): string {
    return this.#first[0];
  }

  get #first(): readonly [id: string, key: KeyObject] {
    const [first] = this.#keys;
    if (first === undefined) throw noKeys();
    return first;
  }

  /** `binding` identifies the row: the same ciphertext does not decrypt in another row. */
  encrypt(plaintext: string, binding: string): Encrypted {
    const [keyId, key] = this.#first;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(binding));
    const encrypted = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
    return { keyId, ciphertext: Buffer.concat([iv, cipher.getAuthTag(), encrypted]) };
  }

  decrypt({ keyId, ciphertext }: Encrypted, binding: string): string {
    const key = this.#keys.get(keyId);
    if (key === undefined) throw this.#keys.size === 0 ? noKeys() : unknownKey(keyId, this.keyIds);
    try {
      const decipher = createDecipheriv(ALGORITHM, key, ciphertext.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(binding))
        .setAuthTag(ciphertext.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const rest = ciphertext.subarray(IV_BYTES + TAG_BYTES);
      return decipher.update(rest, undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw new PosthornError(
        "secret_unreadable",
        `${binding} cannot be decrypted with the key "${keyId}": the row was changed or copied, or the ` +
          "key with this id is not the one that encrypted it. Restore the right key, or rotate the endpoint's secret.",
      );
    }
  }
}

function noKeys(): PosthornError {
  return new PosthornError(
    "encryption_key_missing",
    "Endpoint secrets are encrypted at rest, but no encryption key is configured. Set POSTHORN_ENCRYPTION_KEYS " +
      `(or the option encryptionKeys), and store it safely. A newly generated key: ${generateEncryptionKey()}`,
  );
}

function unknownKey(keyId: string, known: readonly string[]): PosthornError {
  return new PosthornError(
    "encryption_key_missing",
    `A secret was encrypted with the key "${keyId}", which is not configured (configured: ${known.join(", ")}). ` +
      `Add ${keyId}:<base64> to POSTHORN_ENCRYPTION_KEYS, after the key that encrypts.`,
  );
}
