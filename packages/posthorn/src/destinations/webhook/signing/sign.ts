// Signs with node:crypto: WebCrypto is asynchronous and takes about ten times as long for a body of 1 KB.
import { createHmac, createSecretKey, type KeyObject, sign as signEd25519 } from "node:crypto";
import {
  BoundedMap,
  headerNames,
  type KeyKind,
  type Scheme,
  type SignedMessage,
  type SignedPart,
  schemeNamed,
  signingKeyBytes,
  writeSignatureHeaders,
  writeTime,
} from "@posthorn/wire";
import type { SignatureSettings } from "../../../model.ts";
import type { SigningSecrets } from "../../http/valid-secrets.ts";
import { privateKeyOf } from "./key-pair.ts";
import { type MessageKey, messageKeyId, writeMessageSignatures } from "./sign-message.ts";

/**
 * Writes the headers of every configured scheme, each signed with all its secrets, the one that expires first at the
 * beginning. A scheme without a matching secret writes nothing. Throws if no scheme signs: nothing is sent unsigned.
 */
export function signRequest(
  headers: Record<string, string>,
  settings: SignatureSettings,
  message: SignedMessage,
  secrets: SigningSecrets,
  now: Date,
): void {
  const names = headerNames(settings.headerPrefix);
  let isSigned = false;
  for (const name of settings.schemes) {
    const scheme = schemeNamed(name);
    const own = secrets.ofScheme?.get(name) ?? secrets.shared;
    if (scheme.isMessageSignature) {
      const keys = own.flatMap((secret) => messageKey(scheme, secret) ?? []);
      if (keys.length === 0) continue;
      writeMessageSignatures(headers, scheme, message, keys);
      isSigned = true;
      continue;
    }
    const spelled = spelledFor(scheme, message, now);
    const signatures = signaturesOf(scheme, spelled, own);
    if (signatures.length === 0) continue;
    writeSignatureHeaders(headers, scheme, names, spelled, signatures);
    isSigned = true;
  }
  if (!isSigned) {
    const wanted = settings.schemes.join(", ") || "none chosen";
    throw new Error(
      `No valid secret of this endpoint fits its signature schemes (${wanted}); rotate its secret.`,
    );
  }
}

function messageKey(scheme: Scheme, secret: string): MessageKey | null {
  const key = keyOf(scheme.key, secret);
  const id = messageKeyId(scheme, secret);
  return key === null || id === null ? null : { id, sign: (base) => signatureOf(scheme, key, [base]) };
}

/** Some schemes have their own format of the time or of the signed URL. */
function spelledFor(scheme: Scheme, message: SignedMessage, now: Date): SignedMessage {
  if (scheme.timeFormat === undefined && scheme.signedUrls === undefined) return message;
  return {
    ...message,
    timestamp: writeTime(now, scheme.timeFormat ?? "seconds"),
    url: scheme.signedUrls?.(message.url as string)[0] ?? message.url,
  };
}

function signaturesOf(scheme: Scheme, message: SignedMessage, secrets: readonly string[]): string[] {
  const parts = scheme.signedParts(message);
  const signatures: string[] = [];
  for (const secret of secrets) {
    const key = keyOf(scheme.key, secret);
    if (key !== null) signatures.push(signatureOf(scheme, key, parts));
  }
  return signatures;
}

const HMAC_HASHES = { "hmac-sha256": "sha256", "hmac-sha1": "sha1" } as const;

function signatureOf(scheme: Scheme, key: KeyObject, parts: readonly SignedPart[]): string {
  if (scheme.algorithm === "token" || scheme.encoding === "text") return key.export().toString();
  if (scheme.algorithm === "ed25519") {
    // Ed25519 reads its message twice (RFC 8032 §5.1.6), so the parts are joined.
    const content = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
    return signEd25519(null, content, key).toString(scheme.encoding);
  }
  const hmac = createHmac(HMAC_HASHES[scheme.algorithm], key);
  for (const part of parts) hmac.update(part);
  return hmac.digest(scheme.encoding);
}

// A prepared key saves 6 µs (HMAC) or 400 µs (Ed25519) per signature.
const MAX_KEYS = 10_000;
const caches: Record<KeyKind, BoundedMap<string, KeyObject | null>> = {
  text: new BoundedMap(MAX_KEYS),
  base64: new BoundedMap(MAX_KEYS),
  ed25519: new BoundedMap(MAX_KEYS),
};

function keyOf(kind: KeyKind, secret: string): KeyObject | null {
  let key = caches[kind].get(secret);
  if (key === undefined) {
    key = prepareKey(kind, secret);
    caches[kind].set(secret, key);
  }
  return key;
}

function prepareKey(kind: KeyKind, secret: string): KeyObject | null {
  const bytes = signingKeyBytes(kind, secret);
  if (bytes === null) return null;
  return kind === "ed25519" ? privateKeyOf(bytes) : createSecretKey(bytes);
}
