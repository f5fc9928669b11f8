// What the engine sends to an endpoint that signs as somebody else does, put before that vendor's own code.
import { createHmac, createPublicKey, verify } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { verify as verifyGithub } from "@octokit/webhooks-methods";
import { httpbis } from "http-message-signatures";
import { createTestInstance, startScriptedReceiver } from "posthorn/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { afterAll, expect, test } from "vitest";
import { createDatabase } from "../support/postgres.ts";

const database = await createDatabase();
const receiver = await startScriptedReceiver();
const instance = await createTestInstance({
  database: database.connectionString,
  retryPolicy: "1m,5m",
  maxEndpointsPerTenant: 100,
});
const { hooks } = instance;
await hooks.tenants.upsert("acme");
afterAll(async () => {
  await instance.close();
  await receiver.close();
  await database.drop();
});

const SECRET = "It's a Secret to Everybody";
const HTTPS_OWN = ["host", "connection", "content-length"];
let count = 0;

/** One delivery, as it came over the wire. */
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
  const names = Object.keys(request.headers).filter((name) => !HTTPS_OWN.includes(name));
  const text = Buffer.from(request.body).toString();
  return {
    endpoint,
    secret,
    id,
    request,
    header,
    names,
    text,
    url: receiver.url + request.url,
    path,
    publish,
  };
}

const PLAIN = ["accept-encoding", "content-type", "user-agent"];

test("GitHub", async () => {
  const { text, header, names, id } = await sent(["github"]);
  expect(await verifyGithub(SECRET, text, header("X-Hub-Signature-256"))).toBe(true);
  expect(await verifyGithub("another", text, header("X-Hub-Signature-256"))).toBe(false);
  expect(header("X-GitHub-Event")).toBe(`orders.paid${count}`);
  expect(`evt_${header("X-GitHub-Delivery")}`).toBe(id);
  expect(names.toSorted()).toEqual(
    [...PLAIN, "x-github-delivery", "x-github-event", "x-hub-signature-256"].toSorted(),
  );
});

test("Stripe, with a secret that only Stripe would call one", async () => {
  const { text, header, names } = await sent(["stripe"], { secret: "whsec_test_secret" });
  const signature = header("Stripe-Signature");
  expect(Stripe.webhooks.constructEvent(text, signature, "whsec_test_secret")).toEqual({ a: "é" });
  expect(() => Stripe.webhooks.constructEvent(text, signature, SECRET)).toThrow();
  expect(names.toSorted()).toEqual([...PLAIN, "stripe-signature"].toSorted());
});

test("Slack", async () => {
  const { isValidSlackRequest } = await import("@slack/bolt");
  const { text, header } = await sent(["slack"]);
  const headers = {
    "x-slack-signature": header("X-Slack-Signature"),
    "x-slack-request-timestamp": Number(header("X-Slack-Request-Timestamp")),
  };
  expect(isValidSlackRequest({ signingSecret: SECRET, body: text, headers })).toBe(true);
  expect(isValidSlackRequest({ signingSecret: SECRET, body: `${text} `, headers })).toBe(false);
});

test("Shopify, with what else its SDK asks for given as custom headers", async () => {
  await import("@shopify/shopify-api/adapters/node");
  const { ApiVersion, LogSeverity, shopifyApi } = await import("@shopify/shopify-api");
  const shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: SECRET,
    apiVersion: ApiVersion.January26,
    hostName: "hooks.example.com",
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  });
  const custom = { "X-Shopify-Shop-Domain": "shop.example.com", "X-Shopify-API-Version": "2026-01" };
  const { text, request, header } = await sent(["shopify"], { headers: custom });
  const rawRequest = { method: "POST", url: "/in", headers: { ...request.headers } };
  const checked = await shopify.webhooks.validate({ rawBody: text, rawRequest, rawResponse: {} });
  expect(checked).toMatchObject({
    valid: true,
    webhookId: header("X-Shopify-Webhook-Id"),
    domain: "shop.example.com",
  });
  expect(header("X-Shopify-Topic")).toBe(`orders/paid${count}`);
  const changed = { rawBody: `${text} `, rawRequest, rawResponse: {} };
  expect(await shopify.webhooks.validate(changed)).toMatchObject({ valid: false });
});

test("Svix", async () => {
  const { text, request, secret } = await sent(["svix"]);
  const headers = request.headers as Record<string, string>;
  expect(new SvixWebhook(secret).verify(text, headers)).toEqual({ a: "é" });
  expect(() => new SvixWebhook(secret).verify(`${text} `, headers)).toThrow();
});

test("Mux", async () => {
  const { default: Mux } = await import("@mux/mux-node");
  const { text, header } = await sent(["mux"]);
  const client = new Mux({ tokenId: "id", tokenSecret: "secret", webhookSecret: SECRET });
  const headers = { "mux-signature": header("Mux-Signature") };
  await client.webhooks.verifySignature(text, headers);
  await expect(client.webhooks.verifySignature(`${text} `, headers)).rejects.toThrow();
});

test("Paddle", async () => {
  const { Paddle } = await import("@paddle/paddle-node-sdk");
  const { webhooks } = new Paddle("key");
  const { text, header } = await sent(["paddle"]);
  expect(await webhooks.isSignatureValid(text, SECRET, header("Paddle-Signature"))).toBe(true);
  expect(await webhooks.isSignatureValid(`${text} `, SECRET, header("Paddle-Signature"))).toBe(false);
});

test("Linear", async () => {
  const { LinearWebhookClient } = await import("@linear/sdk/webhooks");
  const data = { type: "Issue", webhookTimestamp: Date.now() };
  const { request, header, text } = await sent(["linear"], { headers: { "Linear-Event": "Issue" } }, data);
  const client = new LinearWebhookClient(SECRET);
  const { webhookTimestamp } = JSON.parse(text);
  expect(client.verify(Buffer.from(request.body), header("Linear-Signature"), webhookTimestamp)).toBe(true);
  expect(header("Linear-Event")).toBe("Issue");
});

test("Square, HubSpot and Twilio sign the URL that was really asked for", async () => {
  const file = join(dirname(createRequire(import.meta.url).resolve("square")), "wrapper/WebhooksHelper.js");
  const { WebhooksHelper } = (await import(file)) as typeof import("square");
  const square = await sent(["square"]);
  const input = {
    requestBody: square.text,
    signatureHeader: square.header("x-square-hmacsha256-signature"),
    signatureKey: SECRET,
    notificationUrl: square.url,
  };
  expect(await WebhooksHelper.verifySignature(input)).toBe(true);
  expect(await WebhooksHelper.verifySignature({ ...input, notificationUrl: `${square.url}2` })).toBe(false);

  const { Signature } = await import("@hubspot/api-client");
  const hubspot = await sent(["hubspot"]);
  const options = {
    signatureVersion: "v3",
    clientSecret: SECRET,
    requestBody: hubspot.text,
    url: hubspot.url,
    signature: hubspot.header("X-HubSpot-Signature-v3"),
    timestamp: Number(hubspot.header("X-HubSpot-Request-Timestamp")),
  };
  expect(Signature.isValid(options)).toBe(true);
  expect(Signature.isValid({ ...options, url: `${hubspot.url}2` })).toBe(false);

  const { default: twilio } = await import("twilio");
  const { header, url, text, request } = await sent(["twilio"]);
  expect(request.url).toMatch(/\?account=1&bodySHA256=[0-9a-f]{64}$/);
  const signature = header("X-Twilio-Signature");
  expect(twilio.validateRequestWithBody(SECRET, signature, url, text)).toBe(true);
  expect(twilio.validateRequestWithBody(SECRET, signature, url, `${text} `)).toBe(false);
});

test("Discord, with a key pair of which the receiver has the public half", async () => {
  const { verifyKey } = await import("discord-interactions");
  const { text, header, secret } = await sent(["discord"]);
  const publicKey = Buffer.from(secret.slice("whsk_".length), "base64").subarray(32).toString("hex");
  const [signature, timestamp] = [header("X-Signature-Ed25519"), header("X-Signature-Timestamp")];
  expect(await verifyKey(text, signature, timestamp, publicKey)).toBe(true);
  expect(await verifyKey(`${text} `, signature, timestamp, publicKey)).toBe(false);
});

test("Twitch has no SDK here, so its signature is made as its documentation says", async () => {
  const { text, header } = await sent(["twitch"]);
  const signed = header("Twitch-Eventsub-Message-Id") + header("Twitch-Eventsub-Message-Timestamp") + text;
  const expected = `sha256=${createHmac("sha256", SECRET).update(signed).digest("hex")}`;
  expect(header("Twitch-Eventsub-Message-Signature")).toBe(expected);
  expect(header("Twitch-Eventsub-Message-Type")).toBe("notification");
  expect(header("Twitch-Eventsub-Message-Timestamp")).toMatch(/Z$/);
});

test("Zoom has no SDK here, so its signature is made as its documentation says", async () => {
  const { text, header, names } = await sent(["zoom"]);
  const expected = createHmac("sha256", SECRET)
    .update(`v0:${header("x-zm-request-timestamp")}:${text}`)
    .digest("hex");
  expect(header("x-zm-signature")).toBe(`v0=${expected}`);
  expect(names.filter((name) => name.startsWith("x-webhook"))).toEqual([]);
});

test("GitLab gets the token it knows its sender by, and nobody else sees it", async () => {
  const { endpoint, header, id } = await sent(["gitlab"]);
  expect([header("X-Gitlab-Token"), header("X-Gitlab-Event")]).toEqual([SECRET, endpoint.events[0]]);
  expect([header("X-Gitlab-Event-UUID"), header("Idempotency-Key")]).toEqual(Array(2).fill(id.slice(4)));
  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  for (const fresh of [false, true]) {
    const shown = await hooks.deliveries.request(delivery?.id as string, { fresh });
    expect(shown).toMatchObject({ headers: { "X-Gitlab-Token": "[redacted]" }, masked: ["X-Gitlab-Token"] });
  }
});

test("a secret that is sent goes nowhere but where it was given for", async () => {
  const { endpoint } = await sent(["gitlab"]);
  const change = (changed: object) => hooks.endpoints.update("acme", endpoint.id, changed);
  const elsewhere = { url: "http://127.0.0.2:9999/mine" };
  const [withIt, without] = [["gitlab"], ["github"]].map((schemes) => ({ signature: { schemes } }));
  await expect(change(elsewhere)).rejects.toThrow("given for another host");
  // neither by a detour, nor by having a secret sent that was only ever to sign
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
    return { verify: async (data: Buffer, signature: Buffer) => verify(null, data, key, signature) };
  };
  const message = { method: "POST", url, headers: request.headers as Record<string, string> };
  expect(await httpbis.verifyMessage({ keyLookup }, message)).toBe(true);
  expect(await httpbis.verifyMessage({ keyLookup }, { ...message, url: `${url}2` })).toBe(false);
});

test("a vendor's signature is masked for those who may not see settings, whatever its header is called", async () => {
  const { endpoint } = await sent(["shopify"]);
  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  const shown = await hooks.deliveries.request(delivery?.id as string, { hidesSettings: true });
  expect(shown.headers["X-Shopify-Hmac-Sha256"]).toBe("[redacted]");
});

test("during a migration the old receivers and the new ones are each signed for with their own secret", async () => {
  const { request, text, header, secret, endpoint } = await sent(["stripe", "standard-webhooks"], {
    secret: undefined,
    schemeSecrets: { stripe: SECRET },
  });
  expect(Stripe.webhooks.constructEvent(text, header("Stripe-Signature"), SECRET)).toEqual({ a: "é" });
  expect(header("Stripe-Signature").match(/v1=/g)).toHaveLength(1);
  const headers = request.headers as Record<string, string>;
  expect(new StandardWebhook(secret).verify(text, headers)).toEqual({ a: "é" });
  // one of the schemes is ours, so our own headers are there too
  expect(header("X-Webhook-Event")).toBe(endpoint.events[0]);
});

test("a scheme that is given a secret of its own is signed for with both until the old one has gone", async () => {
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

test("a retry has the id of the first attempt and a time of its own", async () => {
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
  [{ schemes: ["github"] }, { schemeSecrets: { stripe: "a" } }, /does not sign with stripe/],
  [{ schemes: ["github"] }, { schemeSecrets: { unknown: "a" } }, /There is no signature scheme "unknown"/],
  [{ schemes: ["github"] }, { headers: { "x-hub-signature-256": "a" } }, /set by the sender/],
  [{ schemes: ["github", "github"] }, {}, /both write X-Hub-Signature-256/],
  [{ schemes: ["stripe", "t-v1"], headerPrefix: "Stripe" }, {}, /both write Stripe-Signature/],
  [{ schemes: ["discord"] }, { secret: SECRET }, /A secret is whsec_/],
])("refused: %j with %j", async (signature, given, words) => {
  const input = { url: `${receiver.url}/x`, events: ["*"], signature, ...given };
  await expect(hooks.endpoints.create("acme", input as never)).rejects.toThrow(words);
});

test("a secret of 256 characters is taken", async () => {
  const secret = "x".repeat(256);
  const { text, header } = await sent(["github"], { secret });
  expect(await verifyGithub(secret, text, header("X-Hub-Signature-256"))).toBe(true);
});
