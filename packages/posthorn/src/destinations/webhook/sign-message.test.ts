// HTTP Message Signatures: the RFCs' own examples, and the library that receivers verify with.
import { createHmac, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { generateSecret, generateSigningKey } from "@posthorn/wire";
import { httpbis } from "http-message-signatures";
import { expect, test } from "vitest";
import { keyIdOf, sharedKeyIdOf } from "./key-id.ts";
import { signRequest } from "./sign.ts";
import { type Component, contentDigest, signatureBase, signatureParams } from "./sign-message.ts";

const created = "1618884473";

test("RFC 9421 B.2.5: the example with a shared secret", () => {
  const components: Component[] = [
    ["date", "Tue, 20 Apr 2021 02:07:55 GMT"],
    ["@authority", "example.com"],
    ["content-type", "application/json"],
  ];
  const params = signatureParams(components, { created, keyid: "test-shared-secret" });
  const key = Buffer.from(
    "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
    "base64",
  );
  expect(createHmac("sha256", key).update(signatureBase(components, params)).digest("base64")).toBe(
    "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
  );
});

test("RFC 9421 B.2.6: the example with ed25519", () => {
  const components: Component[] = [
    ["date", "Tue, 20 Apr 2021 02:07:55 GMT"],
    ["@method", "POST"],
    ["@path", "/foo"],
    ["@authority", "example.com"],
    ["content-type", "application/json"],
    ["content-length", "18"],
  ];
  const params = signatureParams(components, { created, keyid: "test-key-ed25519" });
  const der = Buffer.from("MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF", "base64");
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  expect(sign(null, Buffer.from(signatureBase(components, params)), key).toString("base64")).toBe(
    "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
  );
});

test("RFC 9530: the digest of its example, and RFC 8037 A.3: the thumbprint of its key", () => {
  expect(contentDigest(Buffer.from('{"hello": "world"}'))).toBe(
    "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  );
  const publicKey = Buffer.from("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "base64url");
  expect(keyIdOf(publicKey)).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

const url = "https://hooks.example.com/in?a=b%20c&access_token=x";

function signed(
  scheme: string,
  secrets: string[],
  headers: Record<string, string> = { "content-type": "application/json" },
) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const message = { id: "evt_1", timestamp, body: Buffer.from('{"a":"é"}'), method: "POST", url };
  const settings = { schemes: [scheme], headerPrefix: "X-Webhook" };
  signRequest(headers, settings, message, { shared: secrets, ofScheme: null }, new Date());
  return headers;
}

type Keys = Record<string, (data: Buffer, signature: Buffer) => boolean>;

function sharedKeys(...secrets: string[]): Keys {
  const keys = secrets.map((secret) => Buffer.from(secret.slice("whsec_".length), "base64"));
  return Object.fromEntries(
    keys.map((key) => [
      sharedKeyIdOf(key),
      (data, given) => createHmac("sha256", key).update(data).digest().equals(given),
    ]),
  );
}

/** Verifies as a receiver does: every signature must be valid under a key found by its id. */
async function accepts(
  headers: Record<string, string>,
  keys: Keys,
  changed: { method?: string; url?: string; headers?: Record<string, string> } = {},
) {
  const request = { method: "POST", url, ...changed, headers: { ...headers, ...changed.headers } };
  return httpbis.verifyMessage(
    {
      all: true,
      requiredFields: ["@method", "@target-uri", "content-digest", "webhook-id", "webhook-timestamp"],
      requiredParams: ["created", "keyid", "alg"],
      maxAge: 300,
      keyLookup: async ({ keyid }) => {
        const key = keys[keyid as string];
        return key === undefined
          ? null
          : { id: keyid as string, verify: async (data, given) => key(data, given) };
      },
    },
    request,
  );
}

test("http-message-signatures accepts a request signed with two shared secrets, and rejects a changed one", async () => {
  const secrets = [generateSecret(), generateSecret()];
  const keys = sharedKeys(...secrets);
  const headers = signed("rfc9421", secrets);
  expect(await accepts(headers, keys)).toBe(true);
  for (const changed of [
    { method: "PUT" },
    { url: `${url}2` },
    { headers: { "content-digest": contentDigest(Buffer.from("other")) } },
    { headers: { "webhook-id": "evt_2" } },
  ]) {
    expect(await accepts(lowerCased(headers), keys, changed)).not.toBe(true);
  }
});

test("http-message-signatures accepts a request signed with a key pair", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  const bytes = Buffer.from(publicKey.slice("whpk_".length), "base64");
  const jwk = { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const headers = signed("rfc9421-ed25519", [signingKey]);
  expect(headers["Signature-Input"]).toContain(';alg="ed25519"');
  expect(await accepts(headers, { [keyIdOf(bytes)]: (data, given) => verify(null, data, key, given) })).toBe(
    true,
  );
  expect(() => signed("rfc9421-ed25519", [generateSecret()])).toThrow("No valid secret");
});

test("a request without a content type is signed without it, because verifiers would miss it", async () => {
  const secret = generateSecret();
  const headers = lowerCased(signed("rfc9421", [secret], {}));
  expect(headers["signature-input"]).toContain('("@method" "@target-uri" "content-digest"');
  expect(await accepts(headers, sharedKeys(secret))).toBe(true);
});

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
