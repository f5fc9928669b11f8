// The public halves of an endpoint's key pairs, for receivers that fetch them: public, cacheable, and both while one
// follows the other.
import { parseId, parseSecret } from "@posthorn/wire";
import { keyIdOf } from "../../destinations/webhook/signing/key-id.ts";
import { PosthornError } from "../../errors.ts";
import type { Target, Uuid } from "../../model.ts";

export interface PublicKey {
  /** SHA-256 of the key as a JWK (RFC 7638), by which signatures name it. */
  readonly id: string;
  /** `whpk_…`, as Standard Webhooks writes it. */
  readonly publicKey: string;
  readonly bytes: Buffer;
  /** Until when it signs beside the current one; null: it stays. */
  readonly expiresAt: Date | null;
}

export type PublicKeys = (endpointId: string) => Promise<readonly PublicKey[]>;

/** Throws the same for an endpoint that is not there as for one without such a key: nothing is told about either. */
export function createPublicKeys(
  targetsByIds: (ids: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Target | null>>,
): PublicKeys {
  return async (endpointId) => {
    const uuid = parseId("ep", String(endpointId));
    const target = uuid === null ? null : (await targetsByIds([uuid])).get(uuid);
    const keys = (target?.secrets ?? []).flatMap(({ value, expiresAt }) => {
      const parsed = parseSecret(value);
      return parsed?.kind === "signing" ? [toPublicKey(Buffer.from(parsed.publicKey), expiresAt)] : [];
    });
    if (keys.length === 0) throw noKeys();
    return keys;
  };
}

function toPublicKey(bytes: Buffer, expiresAt: Date | null): PublicKey {
  return { id: keyIdOf(bytes), publicKey: `whpk_${bytes.toString("base64")}`, bytes, expiresAt };
}

function noKeys(): PosthornError {
  return new PosthornError(
    "endpoint_not_found",
    "There is no endpoint with this id that signs with a key pair, so there are no public keys to show.",
  );
}
