// The engine's signatures, made with node:crypto, compared with those of WebCrypto, which are tested with published vectors.
import { generateSecret, generateSigningKey, schemes, sign } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { SigningSecrets } from "./sign.ts";
import { signRequest } from "./sign.ts";

const PREFIX = { headerPrefix: "X-Webhook" };
const NOW = new Date(1_700_000_000_000);
const only = (...shared: string[]): SigningSecrets => ({ shared, ofScheme: null });

test("node:crypto and WebCrypto write the same headers, for every scheme and several secrets", async () => {
  const secrets = [generateSecret(), generateSecret(), (await generateSigningKey()).signingKey];
  const message = { id: "evt_1", timestamp: "1700000000", body: new TextEncoder().encode('{"a":"é"}') };
  for (const scheme of Object.keys(schemes)) {
    const headers: Record<string, string> = {};
    signRequest(headers, { schemes: [scheme], ...PREFIX }, message, only(...secrets), NOW);
    expect(headers).toEqual(await sign({ ...message, schemes: [scheme], secrets }));
  }
});

test("a scheme without a secret of its kind is omitted, and nothing is sent unsigned", () => {
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
