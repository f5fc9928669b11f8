// Converts a secret to key bytes. Null: not a secret of that kind, so the scheme skips it.
import { decode } from "../encoding.ts";
import { isAsymmetric, type ParsedSecret, parseSecret, rawKey } from "../secrets.ts";

/**
 * `text`: the UTF-8 bytes of the whole string including its prefix, as Stripe and GitHub receivers do.
 * `base64`: the part after `whsec_`, as in Standard Webhooks; the prefix is optional.
 * Both use the bytes of a `rawSecret` as they are.
 * `ed25519`: `whsk_` to sign; `whpk_` (or `whsk_`) or 64 hex digits, as Discord shows its public key, to verify.
 */
export type KeyKind = "text" | "base64" | "ed25519";

const PUBLIC_KEY_HEX = /^[0-9a-f]{64}$/;

type KeyBytes = Uint8Array<ArrayBuffer>;

/** Text in the format of its kind, or the bytes of a shared key, which every kind but `ed25519` uses unchanged. */
export type Secret = string | KeyBytes;

export function signingKeyBytes(kind: KeyKind, secret: Secret): KeyBytes | null {
  if (kind !== "ed25519") return sharedKeyBytes(kind, secret);
  const parsed = typeof secret === "string" ? parseSecret(secret) : null;
  return parsed?.kind === "signing" ? parsed.seed : null;
}

export function verifyingKeyBytes(kind: KeyKind, secret: Secret): KeyBytes | null {
  if (kind !== "ed25519") return sharedKeyBytes(kind, secret);
  if (typeof secret !== "string") return null;
  if (PUBLIC_KEY_HEX.test(secret)) return decode("hex", secret);
  const parsed: ParsedSecret | null = parseSecret(secret);
  return parsed === null || parsed.kind === "shared" ? null : parsed.publicKey;
}

function sharedKeyBytes(kind: "text" | "base64", secret: Secret): KeyBytes | null {
  if (typeof secret !== "string") return secret.length === 0 ? null : secret;
  // With an empty or public key anyone could sign.
  if (secret === "" || secret === "whsec_" || isAsymmetric(secret)) return null;
  const raw = rawKey(secret);
  if (raw !== null) return raw.length === 0 ? null : raw;
  if (kind === "text") return new TextEncoder().encode(secret);
  const parsed = parseSecret(secret.startsWith("whsec_") ? secret : `whsec_${secret}`);
  return parsed?.kind === "shared" ? parsed.key : null;
}
