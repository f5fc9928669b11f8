// Requests to endpoints with a vendor's signature. Our descriptions are compared with the vendors' own code in
// packages/receiver/src/sources/vendor-sdks.test.ts.
import { createHmac, createPublicKey, randomBytes, verify as verifyBytes } from "node:crypto";
import { generateSigningKey, headersAddedBy, TOKEN_SCHEMES, vendors, verify } from "@posthorn/wire";
import { httpbis } from "http-message-signatures";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { expect, test } from "vitest";
import { databasePerFile, receiverPerFile } from "../support/database/database-per-test.ts";

const receiver = await receiverPerFile();
const { open } = await databasePerFile({ retryPolicy: "1m,5m", maxEndpointsPerTenant: 100 });
const instance = await open();
const { hooks } = instance;

const SECRET = "It's a Secret to Everybody";
/** Headers that are not the signature's. */
const PLAIN = ["host", "connection", "content-length", "accept-encoding", "content-type", "user-agent"];
let count = 0;

/** One delivery as received. */
async function sent(schemes: string[], given: Record<string, unknown> = {}, data: unknown = { a: "é" }) {
  count += 1;
  const path = `/hook-${count}`;
  const { endpoint, secret } = await hooks.endpoints.create("acme", {
    url: `${receiver.url}${path}?account=1`,
    events: [`orders.paid${count}`],
    format: "data",
    signature: { schemes },
    ...(schemes.includes("discord") || schemes.includes("svix") ? {} : { secret: SECRET }),
    ...given,
  });
  const publish = () => hooks.publish({ tenant: "acme", type: endpoint.events[0] as string, data });
  const { id } = await publish();
  await instance.settle();
  const requests = receiver.requestsTo(path);
  const request = requests[0] as (typeof requests)[number];
  const header = (name: string): string => String(request.headers[name.toLowerCase()]);
  const names = Object.keys(request.headers).filter((name) => !PLAIN.includes(name));
  const text = Buffer.from(request.body).toString();
  const url = receiver.url + request.url;
  return { endpoint, secret, id, request, header, names, text, url, path, publish };
}

test.each(Object.keys(vendors))(
  "a request signed as %s verifies, with that vendor's headers only",
  async (scheme) => {
    const { request, names, secret, url } = await sent([scheme], {}, { webhookTimestamp: Date.now() });
    expect(names.toSorted()).toEqual(
      headersAddedBy(scheme)
        .map((name) => name.toLowerCase())
        .toSorted(),
    );
    const { headers, body } = request;
    const secrets = [scheme === "discord" ? publicHalf(secret) : secret];
    const input = { scheme, method: "POST", url, headers, body, secrets };
    expect(await verify(input)).toEqual({ ok: true });
    if (TOKEN_SCHEMES.includes(scheme)) return;
    expect(await verify({ ...input, body: Buffer.concat([body, Buffer.from(" ")]) })).toMatchObject({
      ok: false,
    });
  },
);

function publicHalf(signingKey: string): string {
  const bytes = Buffer.from(signingKey.slice("whsk_".length), "base64");
  return `whpk_${bytes.subarray(32).toString("base64")}`;
}

test("GitLab's token is redacted in returned requests", async () => {
  const { endpoint, header, id } = await sent(["gitlab"]);
  expect(header("X-Gitlab-Event")).toBe(endpoint.events[0]);
  expect([header("X-Gitlab-Event-UUID"), header("Idempotency-Key")]).toEqual(Array(2).fill(id.slice(4)));
  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  for (const fresh of [false, true]) {
    const shown = await hooks.deliveries.request(delivery?.id as string, { fresh });
    expect(shown).toMatchObject({
      headers: { "X-Gitlab-Token": "[redacted]" },
      redactedParts: ["X-Gitlab-Token"],
    });
  }
});

test("a secret that is sent as a token is not sent to another host", async () => {
  const { endpoint } = await sent(["gitlab"]);
  const change = (changed: object) => hooks.endpoints.update("acme", endpoint.id, changed);
  const elsewhere = { url: "http://127.0.0.2:9999/mine" };
  const [withIt, without] = [["gitlab"], ["github"]].map((schemes) => ({ signature: { schemes } }));
  await expect(change(elsewhere)).rejects.toThrow("given for another host");
  // neither in two steps, nor by turning a signing secret into a token
  await hooks.endpoints.rotateSecret("acme", endpoint.id, { scheme: "gitlab", secret: "a token" });
  await change({ ...elsewhere, ...without });
  await expect(change({ ...withIt })).rejects.toThrow("so that it has its own");
  await hooks.endpoints.rotateSecret("acme", endpoint.id, { scheme: "gitlab", secret: "another token" });
  expect(await change({ ...withIt })).toMatchObject(elsewhere);
});

test("RFC 9421, with the key that is published under the name in the signature", async () => {
  const { endpoint, request, url } = await sent(["rfc9421-ed25519"], { secret: undefined });
  const keys = await hooks.endpoints.publicKeys(endpoint.id);
  const keyLookup = async ({ keyid }: { keyid?: string }) => {
    const x = keys.find(({ id }) => id === keyid)?.bytes.toString("base64url") as string;
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return { verify: async (data: Buffer, signature: Buffer) => verifyBytes(null, data, key, signature) };
  };
  const message = { method: "POST", url, headers: request.headers as Record<string, string> };
  expect(await httpbis.verifyMessage({ keyLookup }, message)).toBe(true);
  expect(await httpbis.verifyMessage({ keyLookup }, { ...message, url: `${url}2` })).toBe(false);
});

test("a vendor's signature is masked without the permission to see settings, whatever its header name", async () => {
  const { endpoint } = await sent(["shopify"]);
  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  const shown = await hooks.deliveries.request(delivery?.id as string, { redactsSettings: true });
  expect(shown.headers["X-Shopify-Hmac-Sha256"]).toBe("[redacted]");
});

test("during a migration, each scheme signs with its own secret, in the vendor's format", async () => {
  const { request, text, header, secret, endpoint } = await sent(["stripe", "standard-webhooks"], {
    secret: undefined,
    schemeSecrets: { stripe: "whsec_test_secret" },
  });
  const signature = header("Stripe-Signature");
  expect(Stripe.webhooks.constructEvent(text, signature, "whsec_test_secret")).toEqual({ a: "é" });
  expect(() => Stripe.webhooks.constructEvent(text, signature, secret)).toThrow();
  expect(signature.match(/v1=/g)).toHaveLength(1);
  const headers = request.headers as Record<string, string>;
  expect(new StandardWebhook(secret).verify(text, headers)).toEqual({ a: "é" });
  // one of the schemes is ours, so our own headers are there too
  expect(header("X-Webhook-Event")).toBe(endpoint.events[0]);
});

test("a scheme that gets its own secret signs with both until the old one expires", async () => {
  const { endpoint, publish, path } = await sent(["stripe", "mux"]);
  await hooks.endpoints.rotateSecret("acme", endpoint.id, {
    scheme: "stripe",
    secret: "new",
    overlapSeconds: 60,
  });
  await publish();
  await instance.settle();
  const last = () => receiver.requestsTo(path).at(-1) as ReturnType<typeof receiver.requestsTo>[number];
  const accepted = (secret: string): boolean => {
    const signature = String(last().headers["stripe-signature"]);
    try {
      return Boolean(
        Stripe.webhooks.constructEvent(Buffer.from(last().body).toString(), signature, secret, 1e6),
      );
    } catch {
      return false;
    }
  };
  expect([accepted(SECRET), accepted("new")]).toEqual([true, true]);
  expect(String(last().headers["mux-signature"]).match(/v1=/g)).toHaveLength(1);
  await instance.advance(61_000);
  await publish();
  await instance.settle();
  expect([accepted(SECRET), accepted("new")]).toEqual([false, true]);
  const secrets = await hooks.endpoints.secrets("acme", endpoint.id);
  expect(secrets.map(({ scheme }) => scheme)).toEqual(["stripe", null]);
});

test("a retry has the id of the first attempt and its own time", async () => {
  const path = `/hook-${count + 1}`;
  receiver.answer(path, [500, 200]);
  await sent(["svix"]);
  await instance.advance(70_000);
  await instance.settle();
  const [first, second] = receiver.requestsTo(path).map(({ headers }) => headers);
  expect(second?.["svix-id"]).toBe(first?.["svix-id"]);
  expect(Number(second?.["svix-timestamp"])).toBeGreaterThanOrEqual(Number(first?.["svix-timestamp"]) + 60);
});

test.each([
  [{ schemes: ["t-v1"] }, { secret: SECRET }, /A secret is whsec_/],
  [{ schemes: ["github"] }, { secret: "" }, /text of 1 to 256/],
  [{ schemes: ["github"] }, { secret: "x".repeat(257) }, /text of 1 to 256/],
  [{ schemes: ["github"] }, { secret: " padded" }, /without spaces around/],
  [{ schemes: ["github"] }, { secret: "whsk_cut" }, /not a whsk_/],
  [{ schemes: ["github"] }, { schemeSecrets: { stripe: "a" } }, /does not sign with "stripe"/],
  [{ schemes: ["github"] }, { schemeSecrets: { unknown: "a" } }, /There is no signature scheme "unknown"/],
  [{ schemes: ["github"] }, { headers: { "x-hub-signature-256": "a" } }, /set by the sender/],
  [{ schemes: ["github", "github"] }, {}, /both write X-Hub-Signature-256/],
  [{ schemes: ["stripe", "t-v1"], headerPrefix: "Stripe" }, {}, /both write Stripe-Signature/],
  [{ schemes: ["discord"] }, { secret: SECRET }, /A secret is whsec_/],
])("refused: %j with %j", async (signature, given, words) => {
  const input = { url: `${receiver.url}/x`, events: ["*"], signature, ...given };
  await expect(hooks.endpoints.create("acme", input as never)).rejects.toThrow(words);
});

test("a secret of 256 characters is accepted", async () => {
  const secret = "x".repeat(256);
  const { request } = await sent(["github"], { secret });
  expect(await verify({ scheme: "github", ...request, secrets: [secret] })).toEqual({ ok: true });
});

const BYTES = randomBytes(20);
/** The same secret as a sender may have stored it, and a text. */
const IMPORTED = [
  ["hex", BYTES.toString("hex"), BYTES],
  ["base64", BYTES.toString("base64url"), BYTES],
  ["text", "Grüße vom alten Sender", Buffer.from("Grüße vom alten Sender")],
] as const;

test.each(IMPORTED)(
  "an imported secret in %s signs with exactly its bytes in every scheme",
  async (secretEncoding, secret, key) => {
    const given = { secret, secretEncoding };
    const hmac = (...parts: (string | Uint8Array)[]) => {
      const mac = createHmac("sha256", key);
      for (const part of parts) mac.update(part);
      return mac;
    };
    const ours = await sent(["t-v1", "standard-webhooks", "github", "stripe", "svix"], given);
    expect(ours.secret).toBe(secret);
    const { header, request, text } = ours;
    const time = header("X-Webhook-Timestamp");
    const hex = hmac(`${time}.`, request.body).digest("hex");
    expect(header("X-Webhook-Signature")).toBe(`t=${time},v1=${hex}`);
    expect(header("Stripe-Signature")).toBe(`t=${time},v1=${hex}`);
    expect(header("X-Hub-Signature-256")).toBe(`sha256=${hmac(request.body).digest("hex")}`);
    const headers = request.headers as Record<string, string>;
    expect(new StandardWebhook(key.toString("base64")).verify(text, headers)).toEqual({ a: "é" });
    expect(new StandardWebhook(new Uint8Array(key), { format: "raw" }).verify(text, headers)).toEqual({
      a: "é",
    });
    const signed = `${header("svix-id")}.${header("svix-timestamp")}.`;
    expect(header("svix-signature")).toBe(`v1,${hmac(signed, request.body).digest("base64")}`);

    const plain = await sent(["sha256"], given);
    expect(plain.header("X-Webhook-Signature")).toBe(`sha256=${hmac(plain.request.body).digest("hex")}`);
    const two = await sent(["two-headers"], given);
    const signedAt = `${two.header("X-Webhook-Timestamp")}.`;
    expect(two.header("X-Webhook-Signature")).toBe(hmac(signedAt, two.request.body).digest("hex"));
  },
);

test("Stripe's library verifies an imported secret, beside the new one during a rotation", async () => {
  const { endpoint, publish, path } = await sent(["t-v1"], { secret: SECRET, secretEncoding: "text" });
  const { secret } = await hooks.endpoints.rotateSecret("acme", endpoint.id);
  expect(secret).toMatch(/^whsec_/);
  await publish();
  await instance.settle();
  const { body, headers } = receiver.requestsTo(path).at(-1) as ReturnType<
    typeof receiver.requestsTo
  >[number];
  const verified = (known: string) =>
    Stripe.webhooks.constructEvent(
      Buffer.from(body).toString(),
      String(headers["x-webhook-signature"]),
      known,
    );
  expect([verified(SECRET), verified(secret)]).toEqual([{ a: "é" }, { a: "é" }]);
  const theirs = { secret: BYTES.toString("hex"), secretEncoding: "hex" } as const;
  expect((await hooks.endpoints.rotateSecret("acme", endpoint.id, theirs)).secret).toBe(theirs.secret);
});

test("secrets of single schemes have the encoding too, but a key pair has its own format", async () => {
  const schemes = ["t-v1", "stripe", "standard-webhooks-v1a"];
  const { signingKey } = await generateSigningKey();
  const schemeSecrets = { stripe: "theirs", "standard-webhooks-v1a": signingKey };
  const { text, header } = await sent(schemes, { secret: SECRET, schemeSecrets, secretEncoding: "text" });
  expect(Stripe.webhooks.constructEvent(text, header("Stripe-Signature"), "theirs")).toEqual({ a: "é" });
  expect(Stripe.webhooks.constructEvent(text, header("X-Webhook-Signature"), SECRET)).toEqual({ a: "é" });
  expect(header("webhook-signature")).toMatch(/^v1a,/);
});

test.each([
  [{ schemes: ["t-v1"] }, { secret: "x".repeat(257), secretEncoding: "text" }, /1 to 256 bytes/],
  [{ schemes: ["t-v1"] }, { secret: "00".repeat(257), secretEncoding: "hex" }, /1 to 256 bytes/],
  [{ schemes: ["t-v1"] }, { secret: SECRET, secretEncoding: "whsec" }, /A secret is whsec_/],
  [{ schemes: ["github"] }, { secret: SECRET, secretEncoding: "whsec" }, /A secret is whsec_/],
  [{ schemes: ["t-v1"] }, { secret: "whsk_a", secretEncoding: "text" }, /Leave out the encoding/],
  [{ schemes: ["discord"] }, { secret: SECRET, secretEncoding: "text" }, /fits none/],
  [{ schemes: ["gitlab"] }, { secret: "0aff", secretEncoding: "hex" }, /visible ASCII/],
])("not imported: %j with %j", async (signature, given, words) => {
  const input = { url: `${receiver.url}/x`, events: ["*"], signature, ...given };
  await expect(hooks.endpoints.create("acme", input as never)).rejects.toThrow(words);
});
