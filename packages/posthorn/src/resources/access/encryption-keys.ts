// The keys that secrets at rest are encrypted with: whether they fit, and how an old one comes out of use.
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database, Queryable } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import {
  countSecretsPerKey,
  lockOtherSecrets,
  replaceCiphertexts,
  type SealedSecret,
} from "../../storage/queries/secrets/reencrypt.ts";
import type { Targets } from "../endpoints/targets.ts";

export interface EncryptionKeys {
  /** Decrypts one secret of each key in use, and throws if one cannot be. */
  check(): Promise<void>;
  /**
   * Encrypts all secrets anew with the first key, beside servers that run. Each batch is a transaction of its own: one
   * that dies on the way leaves every secret readable, and the next call goes on with what is left.
   */
  reencrypt(): Promise<Reencrypted>;
}

export interface Reencrypted {
  /** The first key. */
  readonly keyId: string;
  /** Secrets that were under another key. */
  readonly reencrypted: number;
  /** Those that stay as they were, since they do not decrypt with the keys there are. */
  readonly unreadable: number;
  /** Keys that secrets are under now; the others are not needed any more. */
  readonly inUse: readonly { readonly keyId: string; readonly count: number }[];
}

export interface EncryptionKeysOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly targets: Pick<Targets, "checkKeys">;
}

/** So few that whoever rotates one of them waits for milliseconds. */
const BATCH = 100;
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

export function createEncryptionKeys({ db, keyRing, targets }: EncryptionKeysOptions): EncryptionKeys {
  return { check: targets.checkKeys, reencrypt };

  async function reencrypt(): Promise<Reencrypted> {
    const keyId = keyRing.firstKeyId;
    let reencrypted = 0;
    // what a rotation held in one pass is free in the next
    for (;;) {
      const { done, unreadable } = await passOver(keyId);
      reencrypted += done;
      if (done === 0) return { keyId, reencrypted, unreadable, inUse: await countSecretsPerKey(db) };
    }
  }

  async function passOver(keyId: string): Promise<{ done: number; unreadable: number }> {
    let done = 0;
    let unreadable = 0;
    let lastId: Uuid | undefined = FIRST_ID;
    while (lastId !== undefined) {
      const afterId: Uuid = lastId;
      const batch = await db.transaction((tx) => takeBatch(tx, keyId, afterId));
      done += batch.done;
      unreadable += batch.unreadable;
      lastId = batch.lastId;
    }
    return { done, unreadable };
  }

  async function takeBatch(tx: Queryable, keyId: string, afterId: Uuid) {
    const secrets = await lockOtherSecrets(tx, keyId, afterId, BATCH);
    const renewed = secrets.flatMap(renew);
    if (renewed.length > 0) await replaceCiphertexts(tx, keyId, renewed);
    return {
      done: renewed.length,
      unreadable: secrets.length - renewed.length,
      lastId: secrets.at(-1)?.id,
    };
  }

  /** None for one that does not decrypt: it must not keep the others from their turn. */
  function renew({ id, endpointId, keyId, ciphertextHex }: SealedSecret) {
    const binding = secretBinding(endpointId, id);
    try {
      const secret = keyRing.decrypt({ keyId, ciphertext: Buffer.from(ciphertextHex, "hex") }, binding);
      return [{ id, ciphertext: keyRing.encrypt(secret, binding).ciphertext }];
    } catch (error) {
      if (error instanceof PosthornError) return [];
      throw error;
    }
  }
}
