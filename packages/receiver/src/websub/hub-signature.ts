// `X-Hub-Signature: method=hex`, an HMAC over the body: WebSub §7.1.
import { decode } from "@posthorn/wire";
import type { Authentication } from "../source.ts";

const HASHES: ReadonlyMap<string, string> = new Map([
  ["sha1", "SHA-1"],
  ["sha256", "SHA-256"],
  ["sha384", "SHA-384"],
  ["sha512", "SHA-512"],
]);

type Rejected = Extract<Authentication, { ok: false }>;

/** Null if the signature is valid. */
export async function signatureProblem(
  header: string | null,
  secret: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<Rejected | null> {
  if (header === null)
    return rejected("header_missing", "X-Hub-Signature is missing, although the hub has a secret");
  const [, method = "", hex = ""] = /^(\w{1,10})=([\da-f]{40,128})$/i.exec(header.trim()) ?? [];
  const hash = HASHES.get(method.toLowerCase());
  if (hash === undefined)
    return rejected(
      "malformed",
      "X-Hub-Signature is not sha1, sha256, sha384 or sha512, followed by = and hex",
    );
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash },
    false,
    ["verify"],
  );
  // Compares in constant time; another length never matches.
  const signature = decode("hex", hex.toLowerCase()) ?? new Uint8Array();
  const isValid = await crypto.subtle.verify("HMAC", key, signature, body);
  return isValid
    ? null
    : rejected("no_match", "X-Hub-Signature does not match the body and the subscription's secret");
}

function rejected(reason: Rejected["reason"], hint: string): Rejected {
  return { ok: false, reason, explain: async () => ({ reason, hint }) };
}
