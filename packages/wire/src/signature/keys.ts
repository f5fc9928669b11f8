// How a secret string becomes the bytes of a key. Null means: not a secret of that kind, so this scheme skips it.
import { decode } from "../encoding.ts";
import { isAsymmetric, type ParsedSecret, parseSecret } from "../secrets.ts";

/**
 * `text`: the UTF-8 bytes of the whole string, prefix and all, as Stripe and GitHub receivers do.
 * `base64`: what stands behind `whsec_`, as Standard Webhooks does; the prefix may be left out.
 * `ed25519`: `whsk_` to sign; `whpk_` (or `whsk_`) or 64 hex digits, as Discord shows its public key, to verify.
 */
export type KeyKind = "text" | "base64" | "ed25519";

const PUBLIC_KEY_HEX = /^[0-9a-f]{64}$/;

type KeyBytes = Uint8Array<ArrayBuffer>;

export function signingKeyBytes(kind: KeyKind, secret: string): KeyBytes | null {
  if (kind !== "ed25519") return sharedKeyBytes(kind, secret);
  const parsed = parseSecret(secret);
  return parsed?.kind === "signing" ? parsed.seed : null;
}

export function verifyingKeyBytes(kind: KeyKind, secret: string): KeyBytes | null {
  if (kind !== "ed25519") return sharedKeyBytes(kind, secret);
  if (PUBLIC_KEY_HEX.test(secret)) return decode("hex", secret);
  const parsed: ParsedSecret | null = parseSecret(secret);
  return parsed === null || parsed.kind === "shared" ? null : parsed.publicKey;
}

function sharedKeyBytes(kind: "text" | "base64", secret: string): KeyBytes | null {
  // An empty key, or one that is public, would let anybody sign.
  if (secret === "" || secret === "whsec_" || isAsymmetric(secret)) return null;
  if (kind === "text") return new TextEncoder().encode(secret);
  const parsed = parseSecret(secret.startsWith("whsec_") ? secret : `whsec_${secret}`);
  return parsed?.kind === "shared" ? parsed.key : null;
}
