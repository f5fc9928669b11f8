// Our descriptions against the vendors' own code: theirs accepts what we sign, and we accept what theirs signs.
// Each SDK is loaded by its test, since all of them together take seconds.
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { sign, vendors } from "@posthorn/wire";
import { expect, test } from "vitest";
import {
  type SignedSample,
  signedSample,
  type VendorSample,
  vendorSamples,
} from "../../../../tests/support/vendor-samples.ts";
import type { Source } from "../source.ts";
import { github, hubspot, slack, stripe, svix, twilio } from "./vendors.ts";

interface Signed {
  readonly sample: VendorSample;
  readonly request: SignedSample;
  readonly text: string;
  /** What the receiver holds. */
  readonly secret: string;
  header(name: string): string;
}

async function ours(vendor: string, body?: string): Promise<Signed> {
  const sample = vendorSamples.find((one) => one.vendor === vendor) as VendorSample;
  const changed = body === undefined ? {} : { body: new TextEncoder().encode(body) };
  const request = await signedSample(sample, new Date(), changed);
  const text = new TextDecoder().decode(request.body);
  const header = (name: string) => request.headers[name] as string;
  return { sample, request, text, secret: sample.verifying[0], header };
}

function accepts(
  source: Source,
  headers: Record<string, string>,
  text: string,
  url = "https://example.com/in",
) {
  const request = { method: "POST", url, headers, body: new TextEncoder().encode(text) };
  return source.authenticate(request, { toleranceSeconds: 300, now: new Date() });
}

const ACCEPTED = { ok: true };

test("Stripe", async () => {
  const { default: Stripe } = await import("stripe");
  const { text, secret, sample, header } = await ours("stripe");
  const event = Stripe.webhooks.constructEvent(text, header("Stripe-Signature"), secret);
  expect(event.id).toBe(sample.event.id);
  expect(() => Stripe.webhooks.constructEvent(`${text} `, header("Stripe-Signature"), secret)).toThrow();

  const theirs = Stripe.webhooks.generateTestHeaderString({ payload: text, secret });
  expect(await accepts(stripe({ secrets: [secret] }), { "stripe-signature": theirs }, text)).toMatchObject(
    ACCEPTED,
  );
});

test("GitHub", async () => {
  const octokit = await import("@octokit/webhooks-methods");
  const { text, secret, header } = await ours("github");
  expect(await octokit.verify(secret, text, header("X-Hub-Signature-256"))).toBe(true);
  expect(await octokit.verify(secret, `${text} `, header("X-Hub-Signature-256"))).toBe(false);

  const headers = { "x-hub-signature-256": await octokit.sign(secret, text) };
  expect(await accepts(github({ secrets: ["new", secret] }), headers, text)).toMatchObject(ACCEPTED);
});

test("Svix", async () => {
  const { Webhook } = await import("svix");
  const { text, secret, request } = await ours("svix");
  expect(new Webhook(secret).verify(text, request.headers as Record<string, string>)).toEqual(
    JSON.parse(text),
  );

  const now = new Date();
  const headers = {
    "svix-id": "msg_2",
    "svix-timestamp": String(Math.floor(now.getTime() / 1000)),
    "svix-signature": new Webhook(secret).sign("msg_2", now, text),
  };
  expect(await accepts(svix({ secrets: [secret] }), headers, text)).toEqual({ ok: true, signedId: "msg_2" });
});

test("Slack", async () => {
  const { isValidSlackRequest } = await import("@slack/bolt");
  const { text, secret, header } = await ours("slack");
  const signed = {
    "x-slack-signature": header("X-Slack-Signature"),
    "x-slack-request-timestamp": Number(header("X-Slack-Request-Timestamp")),
  };
  expect(isValidSlackRequest({ signingSecret: secret, body: text, headers: signed })).toBe(true);
  expect(isValidSlackRequest({ signingSecret: secret, body: `${text} `, headers: signed })).toBe(false);
});

test("Shopify", async () => {
  await import("@shopify/shopify-api/adapters/node");
  const { ApiVersion, LogSeverity, shopifyApi } = await import("@shopify/shopify-api");
  const { text, secret, request, header } = await ours("shopify");
  const shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: secret,
    apiVersion: ApiVersion.January26,
    hostName: "hooks.example.com",
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  });
  const rawRequest = { method: "POST", url: "/in", headers: { ...request.headers } };
  expect(await shopify.webhooks.validate({ rawBody: text, rawRequest, rawResponse: {} })).toMatchObject({
    valid: true,
    webhookId: header("X-Shopify-Webhook-Id"),
  });
  expect(await shopify.webhooks.validate({ rawBody: `${text} `, rawRequest, rawResponse: {} })).toMatchObject(
    {
      valid: false,
    },
  );
});

test("Twilio", async () => {
  const { default: sdk } = await import("twilio");
  const { text, secret, request, header } = await ours("twilio");
  const signature = header("X-Twilio-Signature");
  const params = Object.fromEntries(new URLSearchParams(text));
  expect(sdk.validateRequest(secret, signature, request.url, params)).toBe(true);
  expect(sdk.validateRequest(secret, signature, request.url, { ...params, To: "+1" })).toBe(false);

  const url = "https://example.com/in?a=1";
  const several = { MediaUrl: ["b", "a", "b"], Body: "é+ &=", Empty: "" };
  const form = "MediaUrl=b&MediaUrl=a&MediaUrl=b&Body=%C3%A9%2B+%26%3D&Empty=";
  const theirs = { "x-twilio-signature": sdk.getExpectedTwilioSignature(secret, url, several) };
  expect(await accepts(twilio({ secrets: [secret] }), theirs, form, url)).toMatchObject(ACCEPTED);

  const { getExpectedBodyHash } = await import("twilio/lib/webhooks/webhooks.js");
  const json = '{"a":"é"}';
  const urlOfJson = `https://example.com/in?bodySHA256=${getExpectedBodyHash(json)}`;
  const signedJson = { "x-twilio-signature": sdk.getExpectedTwilioSignature(secret, urlOfJson, {}) };
  expect(await accepts(twilio({ secrets: [secret] }), signedJson, json, urlOfJson)).toMatchObject(ACCEPTED);
  const message = {
    id: "",
    timestamp: "",
    method: "POST",
    url: urlOfJson,
    body: new TextEncoder().encode(json),
  };
  const again = await sign({ ...message, schemes: [vendors.twilio.scheme], secrets: [secret] });
  expect(sdk.validateRequestWithBody(secret, again["X-Twilio-Signature"] as string, urlOfJson, json)).toBe(
    true,
  );
});

test("Square", async () => {
  // The one file of it: the whole takes 2 s to load.
  const file = join(dirname(createRequire(import.meta.url).resolve("square")), "wrapper/WebhooksHelper.js");
  const { WebhooksHelper } = (await import(file)) as typeof import("square");
  const { text, secret, request, header } = await ours("square");
  const input = {
    requestBody: text,
    signatureHeader: header("x-square-hmacsha256-signature"),
    signatureKey: secret,
    notificationUrl: request.url,
  };
  expect(await WebhooksHelper.verifySignature(input)).toBe(true);
  expect(await WebhooksHelper.verifySignature({ ...input, requestBody: `${text} ` })).toBe(false);
});

test("Paddle", async () => {
  const { Paddle } = await import("@paddle/paddle-node-sdk");
  const { webhooks } = new Paddle("key");
  const { text, secret, header } = await ours("paddle");
  const signature = header("Paddle-Signature");
  expect(await webhooks.isSignatureValid(text, secret, signature)).toBe(true);
  expect(await webhooks.isSignatureValid(`${text} `, secret, signature)).toBe(false);
});

test("Linear", async () => {
  const { LinearWebhookClient } = await import("@linear/sdk/webhooks");
  const { request, secret, header } = await ours("linear");
  const client = new LinearWebhookClient(secret);
  expect(client.verify(Buffer.from(request.body), header("Linear-Signature"))).toBe(true);
  const stranger = new LinearWebhookClient("another secret");
  expect(() => stranger.verify(Buffer.from(request.body), header("Linear-Signature"))).toThrow();
});

test("Discord", async () => {
  const { verifyKey } = await import("discord-interactions");
  const { text, secret, header } = await ours("discord");
  const [signature, timestamp] = [header("X-Signature-Ed25519"), header("X-Signature-Timestamp")];
  expect(await verifyKey(text, signature, timestamp, secret)).toBe(true);
  expect(await verifyKey(`${text} `, signature, timestamp, secret)).toBe(false);
});

test("HubSpot", async () => {
  const { Signature } = await import("@hubspot/api-client");
  const { text, secret, request, header } = await ours("hubspot");
  const timestamp = Number(header("X-HubSpot-Request-Timestamp"));
  const signature = header("X-HubSpot-Signature-v3");
  const options = {
    signatureVersion: "v3",
    clientSecret: secret,
    requestBody: text,
    url: request.url,
    timestamp,
  };
  expect(Signature.isValid({ ...options, signature })).toBe(true);
  expect(Signature.isValid({ ...options, signature, requestBody: `${text} ` })).toBe(false);

  const headers = {
    "x-hubspot-signature-v3": Signature.getSignature("POST", "v3", { ...options, signature: "" }),
    "x-hubspot-request-timestamp": String(timestamp),
  };
  expect(await accepts(hubspot({ secrets: [secret] }), headers, text, request.url)).toMatchObject(ACCEPTED);
});

test("Mux", async () => {
  const { default: Mux } = await import("@mux/mux-node");
  const { text, secret, header } = await ours("mux");
  const client = new Mux({ tokenId: "id", tokenSecret: "secret", webhookSecret: secret });
  const headers = { "mux-signature": header("Mux-Signature") };
  await client.webhooks.verifySignature(text, headers);
  await expect(client.webhooks.verifySignature(`${text} `, headers)).rejects.toThrow();
});

test("Twitch has no SDK here, so its signature is made as its documentation says", async () => {
  const { text, secret, header } = await ours("twitch");
  const message = header("Twitch-Eventsub-Message-Id") + header("Twitch-Eventsub-Message-Timestamp") + text;
  const expected = `sha256=${createHmac("sha256", secret).update(message).digest("hex")}`;
  expect(header("Twitch-Eventsub-Message-Signature")).toBe(expected);
});

test("Zoom has no SDK here, so its signature is made as its documentation says", async () => {
  const { text, secret, header } = await ours("zoom");
  const message = `v0:${header("x-zm-request-timestamp")}:${text}`;
  expect(header("x-zm-signature")).toBe(`v0=${createHmac("sha256", secret).update(message).digest("hex")}`);
});

test("the examples in Slack's, Twilio's and GitHub's documentation are accepted", async () => {
  const command =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  const slackRequest = {
    method: "POST",
    url: "https://example.com/in",
    headers: {
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body: new TextEncoder().encode(command),
  };
  const then = { toleranceSeconds: 300, now: new Date(1_531_420_618_000) };
  const source = slack({ secrets: ["8f742231b10e8888abcd99yyyzzz85a5"] });
  expect(await source.authenticate(slackRequest, then)).toMatchObject(ACCEPTED);

  const call =
    "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212";
  const callHeaders = { "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=" };
  const callUrl = "https://mycompany.com/myapp.php?foo=1&bar=2";
  expect(await accepts(twilio({ secrets: ["12345"] }), callHeaders, call, callUrl)).toMatchObject(ACCEPTED);

  const hello = {
    "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  };
  const secrets = ["It's a Secret to Everybody"];
  expect(await accepts(github({ secrets }), hello, "Hello, World!")).toMatchObject(ACCEPTED);
});
