import {
  generateSecret,
  generateSigningKey,
  type SchemeName,
  type VendorName,
  vendors,
  verify,
} from "@posthorn/wire";
import { describe, expect, it } from "vitest";
import { buildRequest } from "../../../posthorn/src/destinations/webhook/build-request.ts";
import type { ClaimedDelivery, PayloadFormat, Target } from "../../../posthorn/src/model.ts";
import { createReceiver } from "../receiver.ts";
import { posthorn } from "../sources/posthorn.ts";
import { discord } from "../sources/vendors.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { createSender, type SenderOptions } from "./sender.ts";
import type { PosthornWebhook } from "./sign-posthorn.ts";
import type { VendorWebhook } from "./sign-vendor.ts";
import { signedRequest, signedWebhook } from "./signed-request.ts";

const secret = generateSecret();
const EVENT_UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

describe("as Posthorn", () => {
  it.each(["envelope", "data", "thin"] as const)(
    "creates the request that Posthorn sends, as %s",
    async (format) => {
      const timestamp = new Date("2026-03-01T12:00:00.500Z");
      const event: PosthornWebhook = {
        secret,
        id: `evt_${EVENT_UUID}`,
        type: 'order."paid"',
        data: { name: "Zoë", total: 12.5, nested: [null, true] },
        subject: "order-1",
        sequence: 7,
        tenant: "acme",
        apiVersion: "2025-06-01",
        createdAt: new Date("2026-02-01T00:00:00Z"),
        attempt: 3,
        format,
        envelopeFields: { tenant_id: "team_id", type: "event" },
        timestamp,
        url: "https://example.com/hooks",
      };
      const made = await signedWebhook(event);
      const sent = posthornSends(event, format);
      expect(new TextDecoder().decode(made.body)).toBe(new TextDecoder().decode(sent.body));
      expect(made.url).toBe(sent.url);
      expect({ ...made.headers, "X-Webhook-Delivery-Id": "" }).toEqual({
        ...sent.headers,
        "X-Webhook-Delivery-Id": "",
      });
    },
  );

  it.each<SchemeName>(["t-v1", "sha256", "two-headers", "standard-webhooks"])(
    "signs for %s with every secret",
    async (scheme) => {
      const next = generateSecret();
      const { headers, body } = await signedWebhook({
        secret: [secret, next],
        type: "a.b",
        schemes: [scheme],
      });
      for (const known of [secret, next]) {
        expect(await verify({ scheme, headers, body, secrets: [known] })).toEqual({ ok: true });
      }
    },
  );

  it("signs with a key pair by default if the secret is one", async () => {
    const { signingKey, publicKey } = await generateSigningKey();
    const { headers, body } = await signedWebhook({ secret: signingKey, type: "a.b" });
    const scheme = "standard-webhooks-v1a";
    expect(await verify({ scheme, headers, body, secrets: [publicKey] })).toEqual({ ok: true });
  });

  it("sends a given body unchanged, and given headers instead of its own", async () => {
    const body = new Uint8Array([0xff, 0x00, 0x7b]);
    const headers = { "content-type": "application/octet-stream" };
    const request = await signedRequest({ secret, type: "a.b", body, headers });
    expect(new Uint8Array(await request.clone().arrayBuffer())).toEqual(body);
    expect(request.headers.get("content-type")).toBe("application/octet-stream");
    const scheme = "standard-webhooks";
    expect(await verify({ scheme, headers: request.headers, body, secrets: [secret] })).toEqual({ ok: true });
  });
});

describe("as a vendor", () => {
  it.each(Object.keys(vendors) as VendorName[])("signs for %s", async (vendor) => {
    const { signingKey } = await generateSigningKey();
    const { scheme } = vendors[vendor];
    const url = "https://example.com/hooks?a=1";
    const payload =
      vendor === "twilio" ? new URLSearchParams({ MessageStatus: "sent", To: "+1" }) : { id: "x1" };
    const key = scheme.key === "ed25519" ? signingKey : secret;
    const { headers, body, method } = await signedWebhook({ vendor, secret: key, payload, url });
    expect(await verify({ scheme, headers, body, method, url, secrets: [key] })).toEqual({ ok: true });
  });

  it.each<[VendorName, payload: object, body: object]>([
    ["stripe", { data: 1 }, { data: 1, id: "e-1", type: "a.b" }],
    ["stripe", { id: "e-1" }, { id: "e-1", type: "a.b" }],
    ["paddle", {}, { event_id: "e-1", event_type: "a.b" }],
    ["slack", { event: { text: "hi" } }, { event_id: "e-1", event: { text: "hi", type: "a.b" } }],
    ["svix", {}, { type: "a.b" }],
  ])("writes id and type into the body where %s has them", async (vendor, payload, expected) => {
    const { body } = await signedWebhook({ vendor, secret, payload, id: "e-1", type: "a.b" });
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(expected);
  });

  it.each<[VendorName, payload: unknown, says: string]>([
    ["stripe", '{"a":1}', "stripe has its id in `id` of the body"],
    ["stripe", new Uint8Array(2), "stripe has its id in `id` of the body"],
    ["stripe", { id: "another" }, "an object without another `id`"],
    ["slack", new URLSearchParams({ a: "b" }), "slack has its id in `event_id`"],
    ["twilio", new URLSearchParams({ a: "b" }), "twilio has no id that could be set"],
    ["hubspot", [{}], "hubspot has no id that could be set"],
  ])("rejects an id for %s that it cannot write", async (vendor, payload, says) => {
    await expect(signedWebhook({ vendor, secret, payload, id: "e-1" })).rejects.toThrow(says);
  });

  it("signs for Discord with a key pair, and rejects any other secret", async () => {
    const { signingKey, publicKey } = await generateSigningKey();
    const receiver = createReceiver({ sources: [discord({ secrets: [publicKey] })], store: memoryStore() });
    const event = { vendor: "discord", payload: { type: 1, event: { type: "A", data: {} } } } as const;
    const { status } = await receiver.fetch(await signedRequest({ ...event, secret: signingKey }));
    expect(status).toBe(200);
    for (const mistake of [publicKey, "0".repeat(64), secret]) {
      await expect(signedRequest({ ...event, secret: mistake })).rejects.toThrow(
        "discord signs with a key pair: `secret` is the `signingKey` of generateSigningKey()",
      );
    }
  });

  it("lists the vendors if one is unknown", async () => {
    const unknown = { vendor: "strype", secret, payload: {} } as unknown as VendorWebhook;
    await expect(async () => signedWebhook(unknown)).rejects.toThrow(/no vendor "strype".*stripe/);
  });
});

describe("with a mistake", () => {
  it.each([undefined, "", [], ["", secret], [undefined]])(
    "asks for the secret when it is %j",
    async (invalid) => {
      const mistake = { type: "a.b", secret: invalid as string };
      await expect(signedRequest(mistake)).rejects.toThrow("Is the environment variable set?");
      await expect(signedRequest({ ...mistake, vendor: "stripe", payload: {} })).rejects.toThrow(
        "needs `secret`",
      );
    },
  );

  it.each(["enveloppe", "binary"])("rejects the format %s", async (format) => {
    const mistake = { secret, type: "a.b", format } as unknown as PosthornWebhook;
    await expect(signedRequest(mistake)).rejects.toThrow(`There is no format "${format}".`);
  });

  it("rejects an id that no receiver accepts, and accepts the longest valid one", async () => {
    const receiver = createReceiver({ sources: [posthorn({ secrets: [secret] })], store: memoryStore() });
    const longest = "i".repeat(255);
    const request = await signedRequest({ secret, type: "a.b", id: longest });
    expect((await receiver.fetch(request)).status).toBe(200);
    for (const id of ["a.b", "", "a b", "ü", `${longest}i`]) {
      await expect(signedRequest({ secret, type: "a.b", id })).rejects.toThrow("cannot be signed");
      await expect(signedRequest({ vendor: "svix", secret, payload: {}, id })).rejects.toThrow(
        "without a dot",
      );
    }
    await expect(signedRequest({ vendor: "github", secret, payload: {}, id: "a.b" })).resolves.toBeDefined();
    await expect(signedRequest({ secret, type: "a.b", id: "a.b", schemes: ["t-v1"] })).resolves.toBeDefined();
  });

  it("rejects unknown options with a suggestion", async () => {
    const mistakes = [
      [{ type: "a.b", secret, sequense: 1 }, "Did you mean sequence?"],
      [{ vendor: "stripe", payload: {}, secret, types: "a.b" }, "Did you mean type?"],
    ] as const;
    for (const [mistake, says] of mistakes) await expect(signedRequest(mistake)).rejects.toThrow(says);
    const receive = () => new Response();
    expect(() => createSender({ secret, receive, clok: 1 } as SenderOptions)).toThrow("Did you mean clock?");
    const misplaced = { secret, receive, vendor: "stripe" } as SenderOptions;
    expect(() => createSender(misplaced)).toThrow('send({ vendor: "stripe", payload })');
  });
});

function posthornSends(event: PosthornWebhook, format: PayloadFormat) {
  const { subject = null, sequence = null, data = {}, tenant = "", apiVersion = "" } = event;
  const delivery = {
    id: EVENT_UUID,
    attempts: (event.attempt ?? 1) - 1,
    event: {
      id: EVENT_UUID,
      type: event.type,
      tenant,
      apiVersion,
      subject,
      sequence,
      createdAt: event.createdAt as Date,
      payload: new TextEncoder().encode(JSON.stringify(data)),
    },
  } as ClaimedDelivery;
  const target = {
    url: event.url ?? "",
    format,
    formatContext: { source: "", datarefBase: "", envelopeFields: event.envelopeFields },
    signature: { schemes: ["t-v1", "standard-webhooks"], headerPrefix: "X-Webhook" },
    headers: {},
    secrets: [{ value: secret, expiresAt: null }],
    authorization: null,
  } as unknown as Target;
  return buildRequest(delivery, target, { startedAt: event.timestamp ?? new Date() }, "Posthorn");
}
