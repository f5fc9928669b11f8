// The public keys of an endpoint, which receivers fetch without authentication. During a rotation there are several.
import { parseId, parseSecret } from "@posthorn/wire";
import { keyIdOf } from "../../destinations/webhook/key-id.ts";
import { PosthornError } from "../../errors.ts";
import type { Target, Uuid } from "../../model.ts";

export interface PublicKey {
  /** SHA-256 of the key as a JWK (RFC 7638); signatures contain it. */
  readonly id: string;
  /** `whpk_…`, as Standard Webhooks writes it. */
  readonly publicKey: string;
  readonly bytes: Buffer;
  /** When the key stops signing. Null for the current one. */
  readonly expiresAt: Date | null;
}

export type PublicKeys = (endpointId: string) => Promise<readonly PublicKey[]>;

/** Throws the same error for an unknown endpoint as for one without key pairs, so that ids cannot be probed. */
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
    if (keys.length === 0)
      throw new PosthornError(
        "endpoint_not_found",
        "There is no endpoint with this id that signs with a key pair, so there are no public keys.",
      );
    return keys;
  };
}

function toPublicKey(bytes: Buffer, expiresAt: Date | null): PublicKey {
  return { id: keyIdOf(bytes), publicKey: `whpk_${bytes.toString("base64")}`, bytes, expiresAt };
}
