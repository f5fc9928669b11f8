import { expect, test } from "vitest";
import { encode } from "./encoding.ts";
import { generateSecret, generateSigningKey, parseSecret } from "./secrets.ts";

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

test("a shared secret has 24 to 64 bytes", () => {
  expect(parseSecret(shared(24))).not.toBeNull();
  expect(parseSecret(shared(64))).not.toBeNull();
  expect(parseSecret(shared(23))).toBeNull();
  expect(parseSecret(shared(65))).toBeNull();
});

test("signing and public keys have exactly 64 and 32 bytes", () => {
  const key = (prefix: string, bytes: number) => prefix + encode("base64", new Uint8Array(bytes));
  expect(parseSecret(key("whsk_", 64))?.kind).toBe("signing");
  expect(parseSecret(key("whpk_", 32))?.kind).toBe("public");
  for (const [prefix, bytes] of [
    ["whsk_", 32],
    ["whsk_", 63],
    ["whsk_", 65],
    ["whpk_", 31],
    ["whpk_", 64],
  ] as const) {
    expect(parseSecret(key(prefix, bytes))).toBeNull();
  }
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
