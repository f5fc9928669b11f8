import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { PosthornError } from "../errors.ts";
import { generateEncryptionKey, parseKeyRing, secretBinding } from "./key-ring.ts";

const row = secretBinding("endpoint-1", "secret-1");

test("encrypting a secret twice gives different ciphertexts", () => {
  const ring = parseKeyRing(generateEncryptionKey());
  expect(ring.encrypt("whsec_abc", row).ciphertext).not.toEqual(ring.encrypt("whsec_abc", row).ciphertext);
});

test("the first key encrypts and all decrypt", () => {
  const [old, young] = [generateEncryptionKey("old"), generateEncryptionKey("young")];
  const before = parseKeyRing(old).encrypt("whsec_abc", row);
  const ring = parseKeyRing(` ${young} , ${old} `);
  expect(ring.encrypt("x", row).keyId).toBe("young");
  expect(ring.decrypt(before, row)).toBe("whsec_abc");
});

test("a ciphertext that was changed, cut short or copied to another row does not decrypt", () => {
  const ring = parseKeyRing(generateEncryptionKey());
  const { keyId, ciphertext } = ring.encrypt("whsec_abc", row);
  const changed = [0, 12, 28, 30].map((at) =>
    ciphertext.map((byte, index) => (index === at ? byte ^ 1 : byte)),
  );
  const cut = [0, 5, 20, 30].map((length) => ciphertext.subarray(0, length));
  for (const wrong of [...changed, ...cut]) {
    const error = catchError(() => ring.decrypt({ keyId, ciphertext: Buffer.from(wrong) }, row));
    expect(error.code).toBe("secret_unreadable");
  }
  const elsewhere = secretBinding("endpoint-2", "secret-1");
  const error = catchError(() => ring.decrypt({ keyId, ciphertext }, elsewhere));
  expect(error).toMatchObject({ code: "secret_unreadable", message: expect.stringContaining(elsewhere) });
});

test("without a key, the error says what to set and includes a valid key", () => {
  const error = catchError(() => parseKeyRing(undefined).encrypt("whsec_abc", row));
  expect(error.code).toBe("encryption_key_missing");
  expect(error.message).toContain("POSTHORN_ENCRYPTION_KEYS");
  const example = /k1:\S+/.exec(error.message)?.[0] ?? "";
  expect(parseKeyRing(example).keyIds).toEqual(["k1"]);
});

test("an unknown key id is named, the known keys are not shown", () => {
  const known = generateEncryptionKey("k2");
  const encrypted = parseKeyRing(generateEncryptionKey("k1")).encrypt("whsec_abc", row);
  const error = catchError(() => parseKeyRing([known]).decrypt(encrypted, row));
  expect(error.code).toBe("encryption_key_missing");
  expect(error.message).toContain('"k1"');
  expect(error.message).not.toContain(known.split(":")[1]);
});

const base64 = (bytes: number) => randomBytes(bytes).toString("base64");
test.each([
  ["a key without an id", base64(32)],
  ["a key of 31 bytes", `k1:${base64(31)}`],
  ["a key of 33 bytes", `k1:${base64(33)}`],
  ["a key that is not base64", "k1:not base64!"],
  ["two keys of one id", `k1:${base64(32)},k1:${base64(32)}`],
])("%s is refused without being shown", (_, input) => {
  const error = catchError(() => parseKeyRing(input));
  expect(error.code).toBe("invalid_config");
  for (const part of input.split(/[:,]/).filter((text) => text.length > 8))
    expect(error.message).not.toContain(part);
});

function catchError(work: () => unknown): PosthornError {
  try {
    work();
  } catch (error) {
    return error as PosthornError;
  }
  throw new Error("nothing was thrown");
}
