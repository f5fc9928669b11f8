// The engine's signatures, made with node:crypto, compared with published vectors and WebCrypto.
import { generateSecret, generateSigningKey, schemes, sign, signatureVectors } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { SigningSecrets } from "../../http/valid-secrets.ts";
import { signRequest } from "./sign.ts";

const PREFIX = { headerPrefix: "X-Webhook" };
const NOW = new Date(1_700_000_000_000);
const only = (...shared: string[]): SigningSecrets => ({ shared, ofScheme: null });

test.each(signatureVectors)("$source: $scheme signs as published", (vector) => {
  const headers: Record<string, string> = {};
  const message = { id: vector.id, timestamp: vector.timestamp, body: new TextEncoder().encode(vector.body) };
  signRequest(headers, { schemes: [vector.scheme], ...PREFIX }, message, only(vector.secret), NOW);
  expect(Object.values(headers)).toContain(vector.signature);
});

test("node:crypto and WebCrypto write the same headers, for every scheme and several secrets", async () => {
  const secrets = [generateSecret(), generateSecret(), (await generateSigningKey()).signingKey];
  const message = { id: "evt_1", timestamp: "1700000000", body: new TextEncoder().encode('{"a":"é"}') };
  for (const scheme of Object.keys(schemes)) {
    const headers: Record<string, string> = {};
    signRequest(headers, { schemes: [scheme], ...PREFIX }, message, only(...secrets), NOW);
    expect(headers).toEqual(await sign({ ...message, schemes: [scheme], secrets }));
  }
});

test("a scheme without a secret of its kind is left out, and nothing is sent unsigned", () => {
  const message = { id: "evt_1", timestamp: "1700000000", body: new Uint8Array() };
  const headers: Record<string, string> = {};
  signRequest(
    headers,
    { schemes: ["t-v1", "standard-webhooks-v1a"], ...PREFIX },
    message,
    only(generateSecret()),
    NOW,
  );
  expect(Object.keys(headers)).toEqual(["X-Webhook-Signature"]);
  for (const [names, secrets] of [
    [["standard-webhooks-v1a"], [generateSecret()]],
    [["t-v1"], []],
    [[], [generateSecret()]],
  ] as const) {
    expect(() => signRequest({}, { schemes: names, ...PREFIX }, message, only(...secrets), NOW)).toThrow(
      "No valid secret",
    );
  }
});

test("more secrets than the cache holds are all signed with, again and again", () => {
  const secrets = Array.from({ length: 10_100 }, () => generateSecret());
  const message = { id: "evt_1", timestamp: "1", body: new Uint8Array(1) };
  const signature = (secret: string) => {
    const headers: Record<string, string> = {};
    signRequest(headers, { schemes: ["sha256"], ...PREFIX }, message, only(secret), NOW);
    return headers["X-Webhook-Signature"];
  };
  const first = secrets.map(signature);
  expect(new Set(first).size).toBe(secrets.length);
  expect(secrets.map(signature)).toEqual(first);
});
