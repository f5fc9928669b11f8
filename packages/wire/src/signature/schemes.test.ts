import { verify as verifyGithub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { expect, test } from "vitest";
import { generateSecret, generateSigningKey } from "../secrets.ts";
import { schemeProblems } from "./schemes.ts";
import { sign } from "./sign.ts";
import { signatureVectors } from "./vectors.ts";

const OLD = generateSecret();
const NEW = generateSecret();
const JSON_TEXT = '{"id":"evt_1","data":{"price":1.0,"name":"é😀"}}';

function message(text = JSON_TEXT) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return { id: "evt_1", timestamp, body: new TextEncoder().encode(text), secrets: [OLD, NEW] };
}

test.each(signatureVectors)("$source: $scheme signs as published", async (vector) => {
  const { id, timestamp, scheme, secret } = vector;
  const body = new TextEncoder().encode(vector.body);
  const headers = await sign({ id, timestamp, body, schemes: [scheme], secrets: [secret] });
  expect(headers[scheme.startsWith("sha") ? "X-Webhook-Signature" : "webhook-signature"]).toBe(
    vector.signature,
  );
});

test.each<[names: string[], problem: RegExp | null]>([
  [["sha512"], null],
  [["sha256:v2"], null],
  [["two-headers:v1"], null],
  [["two-headers:"], /A label has 1 to 32 letters/],
  [["t-v1:v2"], /no signature scheme "t-v1:v2"/],
  [[`sha512:${"x".repeat(32)}`], null],
  [[`sha256:${"x".repeat(33)}`], /A label has 1 to 32 letters/],
  [["sha256:"], /A label has 1 to 32 letters/],
  [["sha256:a=b"], /A label has 1 to 32 letters/],
  [["sha1:v2"], /no signature scheme "sha1:v2"\. Choose from .*sha512:<label>/],
  [["sha256", "sha256:v2"], /"sha256" and "sha256:v2" both write X-Webhook-Signature/],
])("the schemes %j have the problem %s", (names, problem) => {
  expect(schemeProblems(names)).toEqual(problem === null ? [] : [expect.stringMatching(problem)]);
});

test("Stripe's SDK accepts t-v1 with the old and with the new secret", async () => {
  const header = (await sign({ ...message(), schemes: ["t-v1"] }))["X-Webhook-Signature"] as string;
  expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  for (const secret of [OLD, NEW]) {
    expect(Stripe.webhooks.constructEvent(JSON_TEXT, header, secret)).toEqual(JSON.parse(JSON_TEXT));
  }
  expect(() => Stripe.webhooks.constructEvent(JSON_TEXT, header, generateSecret())).toThrow();
});

test("the Standard Webhooks library accepts the old and the new secret, with v1a beside them", async () => {
  const { signingKey } = await generateSigningKey();
  const input = { ...message(), secrets: [signingKey, OLD, NEW] };
  for (const schemes of [
    ["standard-webhooks"],
    ["standard-webhooks", "standard-webhooks-v1a"],
    ["standard-webhooks-v1a", "standard-webhooks"],
  ]) {
    const headers = await sign({ ...input, schemes });
    for (const secret of [OLD, NEW]) {
      expect(new Webhook(secret).verify(JSON_TEXT, headers)).toEqual(JSON.parse(JSON_TEXT));
    }
    expect(() => new Webhook(generateSecret()).verify(JSON_TEXT, headers)).toThrow();
    // v1 items come first, whichever scheme was named first
    const expected = schemes.length === 1 ? /^v1,\S{44} v1,\S{44}$/ : /^v1,\S{44} v1,\S{44} v1a,\S{88}$/;
    expect(headers["webhook-signature"]).toMatch(expected);
  }
});

test("GitHub's library accepts sha256 with the secret that expires first; the newer signature is in its own header", async () => {
  const headers = await sign({ ...message(), schemes: ["sha256"], headerPrefix: "X-OrientedOS" });
  expect(await verifyGithub(OLD, JSON_TEXT, headers["X-OrientedOS-Signature"] as string)).toBe(true);
  expect(await verifyGithub(NEW, JSON_TEXT, headers["X-OrientedOS-Signature-Next"] as string)).toBe(true);
});

test("two-headers writes the timestamp and the bare digest of t-v1", async () => {
  const input = message();
  const tV1 = (await sign({ ...input, schemes: ["t-v1"] }))["X-Webhook-Signature"] as string;
  const [old, next] = tV1
    .split(",")
    .slice(1)
    .map((item) => item.slice(3));
  expect(await sign({ ...input, schemes: ["two-headers"] })).toEqual({
    "X-Webhook-Timestamp": input.timestamp,
    "X-Webhook-Signature": old,
    "X-Webhook-Signature-Next": next,
  });
});

test("a private or public key is never used as the key of an HMAC", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  for (const scheme of ["t-v1", "sha256", "two-headers", "standard-webhooks"]) {
    await expect(
      sign({ ...message(), secrets: [signingKey, publicKey], schemes: [scheme] }),
    ).rejects.toThrow();
  }
});

test("schemes that write the same header cannot be combined, unless they share it", async () => {
  expect(schemeProblems(["t-v1", "standard-webhooks", "standard-webhooks-v1a"])).toEqual([]);
  expect(schemeProblems(["sha256", "standard-webhooks"])).toEqual([]);
  for (const wrong of [
    [],
    ["t-v1", "sha256"],
    ["sha256", "two-headers"],
    ["t-v1", "t-v1"],
    ["t-v2"],
    ["toString"],
  ]) {
    expect(schemeProblems(wrong)).toHaveLength(1);
  }
  expect(schemeProblems(["standard-webhooks", "standard-webhooks"])).toHaveLength(1);
  // with these prefixes a vendor's header would occur twice
  expect(schemeProblems(["svix", "standard-webhooks"], "Svix")).toHaveLength(1);
  expect(schemeProblems(["linear", "standard-webhooks"], "linear")).toHaveLength(1);
  expect(schemeProblems(["t-v1", "stripe"], "stripe")).toHaveLength(1);
  expect(schemeProblems(["svix", "linear"], "Svix")).toEqual([]);
  await expect(sign({ ...message(), schemes: ["t-v1", "sha256"] })).rejects.toThrow("X-Webhook-Signature");
});
