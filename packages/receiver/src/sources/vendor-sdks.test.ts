// Our descriptions against the vendors' own code, which accepts requests that we sign.
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
} from "../../../../tests/support/samples/vendor-samples.ts";
import type { Source } from "../source.ts";
import { twilio } from "./vendors.ts";

interface Signed {
  readonly sample: VendorSample;
  readonly request: SignedSample;
  readonly text: string;
  /** The secret or key of the receiver. */
  readonly secret: string;
  header(name: string): string;
}

async function ours(vendor: string): Promise<Signed> {
  const sample = vendorSamples.find((one) => one.vendor === vendor) as VendorSample;
  const request = await signedSample(sample, new Date());
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

/** Returns whether the vendor's code accepts the body; throwing counts as no. */
type Verifies = (signed: Signed) => Promise<(body: string) => unknown>;

const verifiers: Readonly<Record<string, Verifies>> = {
  async stripe({ secret, header }) {
    const { default: Stripe } = await import("stripe");
    return (body) => Stripe.webhooks.constructEvent(body, header("Stripe-Signature"), secret);
  },
  async github({ secret, header }) {
    const { verify } = await import("@octokit/webhooks-methods");
    return (body) => verify(secret, body, header("X-Hub-Signature-256"));
  },
  async svix({ secret, request }) {
    const { Webhook } = await import("svix");
    return (body) => new Webhook(secret).verify(body, request.headers as Record<string, string>);
  },
  async slack({ secret, header }) {
    const { isValidSlackRequest } = await import("@slack/bolt");
    const headers = {
      "x-slack-signature": header("X-Slack-Signature"),
      "x-slack-request-timestamp": Number(header("X-Slack-Request-Timestamp")),
    };
    return (body) => isValidSlackRequest({ signingSecret: secret, body, headers });
  },
  async shopify({ secret, request }) {
    await import("@shopify/shopify-api/adapters/node");
    const { ApiVersion, LogSeverity, shopifyApi } = await import("@shopify/shopify-api");
    const shopify = shopifyApi({
      apiKey: "key",
      apiSecretKey: secret,
      apiVersion: ApiVersion.January26,
      hostName: "hooks.example.com",
      isEmbeddedApp: false,
      logger: { level: LogSeverity.Error },
    });
    const rawRequest = { method: "POST", url: "/in", headers: { ...request.headers } };
    return async (rawBody) =>
      (await shopify.webhooks.validate({ rawBody, rawRequest, rawResponse: {} })).valid;
  },
  async twilio({ secret, request, header }) {
    const { default: sdk } = await import("twilio");
    return (body) => {
      const params = Object.fromEntries(new URLSearchParams(body));
      return sdk.validateRequest(secret, header("X-Twilio-Signature"), request.url, params);
    };
  },
  async square({ secret, request, header }) {
    // The one file of it: the whole takes 2 s to load.
    const file = join(dirname(createRequire(import.meta.url).resolve("square")), "wrapper/WebhooksHelper.js");
    const { WebhooksHelper } = (await import(file)) as typeof import("square");
    return (requestBody) =>
      WebhooksHelper.verifySignature({
        requestBody,
        signatureHeader: header("x-square-hmacsha256-signature"),
        signatureKey: secret,
        notificationUrl: request.url,
      });
  },
  async paddle({ secret, header }) {
    const { Paddle } = await import("@paddle/paddle-node-sdk");
    const { webhooks } = new Paddle("key");
    return (body) => webhooks.isSignatureValid(body, secret, header("Paddle-Signature"));
  },
  async linear({ secret, header }) {
    const { LinearWebhookClient } = await import("@linear/sdk/webhooks");
    const client = new LinearWebhookClient(secret);
    return (body) => client.verify(Buffer.from(body), header("Linear-Signature"));
  },
  async discord({ secret, header }) {
    const { verifyKey } = await import("discord-interactions");
    const [signature, timestamp] = [header("X-Signature-Ed25519"), header("X-Signature-Timestamp")];
    return (body) => verifyKey(body, signature, timestamp, secret);
  },
  async hubspot({ secret, request, header }) {
    const { Signature } = await import("@hubspot/api-client");
    return (requestBody) =>
      Signature.isValid({
        signatureVersion: "v3",
        clientSecret: secret,
        requestBody,
        url: request.url,
        timestamp: Number(header("X-HubSpot-Request-Timestamp")),
        signature: header("X-HubSpot-Signature-v3"),
      });
  },
  async mux({ secret, header }) {
    const { default: Mux } = await import("@mux/mux-node");
    const { webhooks } = new Mux({ tokenId: "id", tokenSecret: "secret", webhookSecret: secret });
    return async (body) => {
      await webhooks.verifySignature(body, { "mux-signature": header("Mux-Signature") });
      return true;
    };
  },
  // Twitch and Zoom have no SDK, so these follow their documentation.
  twitch: async ({ secret, header }) => {
    const signed = header("Twitch-Eventsub-Message-Id") + header("Twitch-Eventsub-Message-Timestamp");
    return (body) => header("Twitch-Eventsub-Message-Signature") === `sha256=${hmac(secret, signed + body)}`;
  },
  zoom: async ({ secret, header }) => {
    const signed = `v0:${header("x-zm-request-timestamp")}:`;
    return (body) => header("x-zm-signature") === `v0=${hmac(secret, signed + body)}`;
  },
};

function hmac(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

test.each(Object.entries(verifiers))(
  "%s accepts our signature, and not for another body",
  async (vendor, load) => {
    const signed = await ours(vendor);
    const verifies = await load(signed);
    const isAccepted = async (body: string) => {
      try {
        return Boolean(await verifies(body));
      } catch {
        return false;
      }
    };
    expect([await isAccepted(signed.text), await isAccepted(`${signed.text} `)]).toEqual([true, false]);
  },
);

test("we accept forms with repeated parameters and JSON that Twilio's code signs, and it accepts our JSON", async () => {
  const { default: sdk } = await import("twilio");
  const { secret } = await ours("twilio");
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
  const message = { id: "", timestamp: "", method: "POST", url: urlOfJson };
  const body = new TextEncoder().encode(json);
  const again = await sign({ ...message, body, schemes: [vendors.twilio.scheme], secrets: [secret] });
  expect(sdk.validateRequestWithBody(secret, again["X-Twilio-Signature"] as string, urlOfJson, json)).toBe(
    true,
  );
});
