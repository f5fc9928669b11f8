// Checks the keys that encrypt secrets at rest, and re-encrypts secrets so that an old key can be removed.
import { PosthornError } from "../../errors.ts";
import type { Uuid } from "../../model.ts";
import type { Database } from "../../storage/database.ts";
import { type KeyRing, secretBinding } from "../../storage/key-ring.ts";
import {
  countSecretsPerKey,
  lockOtherSecrets,
  replaceCiphertexts,
  type SealedSecret,
} from "../../storage/queries/secrets.ts";
import type { Targets } from "../endpoints/targets.ts";
import { LOWEST_UUID } from "../page.ts";

export interface EncryptionKeys {
  /** Decrypts one secret of each key in use, and throws if that fails. */
  check(): Promise<void>;
  /**
   * Re-encrypts all secrets with the first key while servers run. Each batch is a transaction, so that after a crash every
   * secret is readable, and the next call continues with the rest.
   */
  reencrypt(): Promise<Reencrypted>;
}

export interface Reencrypted {
  /** The first key. */
  readonly keyId: string;
  /** Number of secrets that were encrypted with another key. */
  readonly reencrypted: number;
  /** Number of secrets that no configured key can decrypt; they are unchanged. */
  readonly unreadable: number;
  /** The keys that secrets are encrypted with now; other keys can be removed. */
  readonly inUse: readonly { readonly keyId: string; readonly count: number }[];
}

export interface EncryptionKeysOptions {
  readonly db: Database;
  readonly keyRing: KeyRing;
  readonly targets: Pick<Targets, "checkKeys">;
}

/** Small, so that a rotation waits only milliseconds for the locks of a batch. */
const BATCH = 100;

export function createEncryptionKeys({ db, keyRing, targets }: EncryptionKeysOptions): EncryptionKeys {
  return { check: targets.checkKeys, reencrypt };

  async function reencrypt(): Promise<Reencrypted> {
    const keyId = keyRing.firstKeyId;
    let reencrypted = 0;
    // repeat, because a pass skips secrets that a rotation has locked
    for (;;) {
      let done = 0;
      let unreadable = 0;
      for (let lastId: Uuid | undefined = LOWEST_UUID; lastId !== undefined; ) {
        const [secrets, renewed] = await reencryptBatch(keyId, lastId);
        done += renewed.length;
        unreadable += secrets.length - renewed.length;
        lastId = secrets.at(-1)?.id;
      }
      reencrypted += done;
      if (done === 0) return { keyId, reencrypted, unreadable, inUse: await countSecretsPerKey(db) };
    }
  }

  async function reencryptBatch(keyId: string, afterId: Uuid) {
    return await db.transaction(async (tx) => {
      const secrets = await lockOtherSecrets(tx, keyId, afterId, BATCH);
      const renewed = secrets.flatMap(renew);
      if (renewed.length > 0) await replaceCiphertexts(tx, keyId, renewed);
      return [secrets, renewed] as const;
    });
  }

  /** Returns an empty list for a secret that cannot be decrypted, so that the others are still processed. */
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
