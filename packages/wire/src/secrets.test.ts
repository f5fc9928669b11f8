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
