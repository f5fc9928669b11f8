import { expect, test } from "vitest";
import { encode } from "./encoding.ts";
import {
  generateSecret,
  generateSigningKey,
  importedKey,
  MAX_SECRET_BYTES,
  parseSecret,
  rawSecret,
} from "./secrets.ts";
import { signingKeyBytes } from "./signature/keys.ts";

const shared = (bytes: number) => `whsec_${encode("base64", new Uint8Array(bytes).fill(7))}`;

test("a generated secret is whsec_ and the padded base64 of 32 bytes, never the same twice", () => {
  const secret = generateSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(parseSecret(secret)).toMatchObject({ kind: "shared", key: { length: 32 } });
  expect(generateSecret()).not.toBe(secret);
});

test("a generated signing key holds the public key that goes with it", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  const parsed = parseSecret(signingKey);
  expect(parsed).toMatchObject({ kind: "signing", seed: { length: 32 } });
  expect(parseSecret(publicKey)).toEqual({
    kind: "public",
    publicKey: parsed?.kind === "signing" ? parsed.publicKey : null,
  });
});

test.each([
  ["whsec_", "shared", [24, 64], [23, 65]],
  ["whsk_", "signing", [64], [32, 63, 65]],
  ["whpk_", "public", [32], [31, 33, 64]],
])("%s is a %s key of %j bytes, and not of %j", (prefix, kind, right, wrong) => {
  const parsed = (bytes: number) => parseSecret(prefix + encode("base64", new Uint8Array(bytes)));
  for (const bytes of right) expect(parsed(bytes)?.kind).toBe(kind);
  for (const bytes of wrong) expect(parsed(bytes)).toBeNull();
});

test.each([
  ["no prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  ["an upper-case prefix", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  ["nothing behind the prefix", "whsec_"],
  ["no padding", shared(32).slice(0, -1)],
  ["padding too many", `${shared(32)}=`],
  ["the URL alphabet", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_"],
  ["a space", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS "],
  ["a line feed at the end", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"],
  ["unused bits that are not zero", `whsec_${"A".repeat(42)}B=`],
])("a secret with %s is rejected", (_, text) => {
  expect(parseSecret(text)).toBeNull();
});

test.each([
  ["text", "pässword", "70c3a4737377 6f7264"],
  ["text", "whsec_not base64", "77687365635f6e6f7420626173653634"],
  ["base64", "+/8=", "fbff"],
  ["base64", "-_8", "fbff"],
  ["base64", "whsec_+/8=", "fbff"],
  ["hex", "00fF", "00ff"],
] as const)(
  "a secret in %s, %j, has exactly these bytes for every scheme with a shared key",
  (encoding, text, hex) => {
    const key = importedKey(text, encoding) as Uint8Array;
    expect(encode("hex", key)).toBe(hex.replaceAll(" ", ""));
    for (const kind of ["text", "base64"] as const)
      expect(signingKeyBytes(kind, rawSecret(key))).toEqual(key);
    expect(signingKeyBytes("ed25519", rawSecret(key))).toBeNull();
  },
);

test.each([
  ["text", (bytes: number) => "x".repeat(bytes)],
  ["text", (bytes: number) => "é".repeat(bytes / 2) + "x".repeat(bytes % 2)],
  ["base64", (bytes: number) => encode("base64", new Uint8Array(bytes))],
  ["hex", (bytes: number) => "00".repeat(bytes)],
] as const)("a secret in %s has 1 to 256 bytes (%#)", (encoding, ofLength) => {
  for (const bytes of [1, MAX_SECRET_BYTES])
    expect(importedKey(ofLength(bytes), encoding)).toHaveLength(bytes);
  for (const bytes of [0, MAX_SECRET_BYTES + 1]) expect(importedKey(ofLength(bytes), encoding)).toBeNull();
});

test.each([
  ["text", [" a", "a\n", "a\u0000b", "\ud800"]],
  ["base64", ["a", "a===", "a b=", "AB=="]],
  ["hex", ["0", "0g", "0x00"]],
] as const)("text that is not %s is rejected", (encoding, texts) => {
  for (const text of texts) expect(importedKey(text, encoding)).toBeNull();
});
