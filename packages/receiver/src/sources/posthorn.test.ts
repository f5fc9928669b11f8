import {
  envelope,
  generateSecret,
  generateSigningKey,
  importedKey,
  rawSecret,
  type Secret,
  sign,
  thinEnvelope,
} from "@posthorn/wire";
import { expect, test } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import { NOW } from "../../../../tests/support/receiver/signed-delivery.ts";
import type { WebhookEvent } from "../model.ts";
import { type PosthornSourceOptions, posthorn } from "./posthorn.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

const timestamp = String(NOW.getTime() / 1000);
const uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
const id = `evt_${uuid}`;
const secret = generateSecret();
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const fields = {
  id: uuid,
  type: "order.paid",
  apiVersion: "1",
  createdAt: new Date("2026-06-01T11:59:58.123Z"),
  tenant: "t1",
  subject: "order/1",
  sequence: 7,
  payload: bytes({ total: 1 }),
};

interface DeliveryOptions {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly schemes?: readonly string[];
  readonly secrets?: readonly Secret[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: Partial<PosthornSourceOptions>;
}

async function deliver({
  body,
  schemes = ["t-v1", "standard-webhooks"],
  secrets = [secret],
  headers,
  options,
}: DeliveryOptions) {
  const events: WebhookEvent[] = [];
  const { receiver, rejected } = openReceiver({ sources: [posthorn({ secrets, ...options })] });
  receiver.fallback((event) => void events.push(event));
  const { headerPrefix } = options ?? {};
  const signed = await sign({ schemes, secrets, id, timestamp, body, ...(headerPrefix && { headerPrefix }) });
  const request = { method: "POST", url: "/", headers: { ...headers, ...signed }, body };
  const { status } = await receiver.receive(request);
  return { status, event: events[0], details: rejected.map(({ detail }) => detail) };
}

test("the envelope", async () => {
  const body = envelope(fields);
  const { status, event } = await deliver({ body });
  expect(status).toBe(200);
  expect(event).toEqual({
    source: "posthorn",
    id,
    type: "order.paid",
    subject: "order/1",
    sequence: 7,
    createdAt: fields.createdAt,
    data: { total: 1 },
    payload: JSON.parse(new TextDecoder().decode(body)),
    body,
  });
});

test.each([-1, 1.5, 2 ** 53, "7", true])("the sequence %j is 400", async (sequence) => {
  const body = bytes({ id, type: "order.paid", subject: "order/1", sequence, data: {} });
  expect((await deliver({ body })).status).toBe(400);
});

const OTHER = { "X-Webhook-Event": "other.type", "content-type": "text/plain" };
const EVENT = { "X-Webhook-Event": "order.paid" };
const typed = (contentType: string) => ({ ...EVENT, "content-type": contentType });
const encoded = (text: string) => new TextEncoder().encode(text);
const similar = { id: `evt_${uuid.replace("0", "1")}`, type: "order.sent" };

test.each<[what: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string>, event: object]>([
  ["a thin event", thinEnvelope(fields), {}, { subject: "order/1", sequence: null, data: undefined }],
  ["an envelope with another type and content type", envelope(fields), OTHER, { data: { total: 1 } }],
  ["bare data", bytes([1, 2]), EVENT, { data: [1, 2], payload: [1, 2], createdAt: null }],
  ["bare data that looks like another envelope", bytes(similar), EVENT, { data: similar }],
  ["bare text with a charset", encoded("12 é"), typed("text/plain; charset=utf-8"), { data: "12 é" }],
  ["bare text that is JSON", encoded("12"), typed("text/plain"), { data: "12" }],
  ["a bare image", Uint8Array.of(0x89, 0xff, 0), typed("image/png"), { data: Uint8Array.of(0x89, 0xff, 0) }],
  ["bare XML", encoded("<a/>"), typed("application/xml"), { data: encoded("<a/>") }],
  ["bare JSON of a vendor", bytes({ a: 1 }), typed("application/vnd.shop+json"), { data: { a: 1 } }],
  ["bare data that is empty", new Uint8Array(0), typed("application/octet-stream"), { data: undefined }],
])("%s has the signed id and its type", async (_, body, headers, event) => {
  const expected = { status: 200, event: { id, type: "order.paid", ...event } };
  expect(await deliver({ body, headers })).toMatchObject(expected);
});

test("bare data without a signed id, or without a type, is 400", async () => {
  const headers = { "X-Webhook-Event": "order.paid", "X-Webhook-Id": id };
  const unsigned = await deliver({ body: bytes([1]), headers, schemes: ["t-v1"] });
  expect(unsigned).toMatchObject({ status: 400, details: [expect.stringContaining("standard-webhooks")] });
  expect(await deliver({ body: bytes([1]) })).toMatchObject({ status: 400 });
});

test.each(["t-v1", "two-headers", "sha256"])(
  "bare data signed by %s alone has the id of the header, if enabled",
  async (scheme) => {
    const options = { schemes: [scheme], id: "header" } as const;
    const headers = { "X-Webhook-Event": "order.paid", "X-Webhook-Id": "evt_1" };
    const body = bytes({ total: 1 });
    expect(await deliver({ body, headers, schemes: [scheme], options })).toMatchObject({
      status: 200,
      event: { id: "evt_1", type: "order.paid", data: { total: 1 } },
    });
    const { "X-Webhook-Id": _, ...without } = headers;
    expect((await deliver({ body, headers: without, schemes: [scheme], options })).status).toBe(400);
    const signed = await deliver({ body: envelope(fields), headers, schemes: [scheme], options });
    expect(signed.event).toMatchObject({ id, type: "order.paid", subject: "order/1" });
  },
);

test.each([["plain text"], [new Uint8Array([0, 255, 10])]])("signed with the secret %s", async (own) => {
  const options = { headerPrefix: "X-SESMetric", schemes: ["two-headers"], secrets: [own] };
  const delivery = { body: envelope(fields), schemes: ["two-headers"], secrets: [own], options };
  expect(await deliver(delivery)).toMatchObject({ status: 200, event: { id } });
  expect((await deliver({ ...delivery, options: { ...options, secrets: [secret] } })).status).toBe(401);
});

test.each([["t-v1"], ["two-headers"], ["standard-webhooks"]])("signed by %s alone", async (scheme) => {
  expect(await deliver({ body: envelope(fields), schemes: [scheme] })).toMatchObject({
    status: 200,
    event: { id },
  });
});

test("signed by sha256, only if enabled, because it signs no time", async () => {
  const delivery = { body: envelope(fields), schemes: ["sha256"] };
  expect((await deliver(delivery)).status).toBe(401);
  expect((await deliver({ ...delivery, options: { schemes: ["sha256"] } })).status).toBe(200);
});

test("signed by a key pair, alone or together with a shared secret", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  const body = envelope(fields);
  const both = {
    body,
    schemes: ["standard-webhooks", "standard-webhooks-v1a"],
    secrets: [signingKey, secret],
  };
  for (const secrets of [[publicKey], [secret], [publicKey, secret]]) {
    expect((await deliver({ ...both, options: { secrets } })).status).toBe(200);
  }
});

test("with a custom header prefix", async () => {
  const options = { headerPrefix: "X-Shop" };
  const delivery = { body: bytes([1]), headers: { "X-Shop-Event": "order.paid" }, options };
  expect((await deliver(delivery)).event).toMatchObject({ id, type: "order.paid" });
});

test("of Standard Webhooks: type, time and data, or any other JSON", async () => {
  const parse = (value: unknown) =>
    standardWebhooks({ secrets: [secret] }).parse({
      source: "x",
      signedId: "msg_1",
      headers: {},
      body: bytes(value),
    });
  expect(parse({ type: "order.paid", timestamp: "2026-06-01T12:00:00Z", data: null })).toMatchObject({
    events: [{ id: "msg_1", type: "order.paid", createdAt: NOW, data: null }],
  });
  expect(parse({ type: 1, timestamp: "yesterday", total: 1 })).toMatchObject({
    events: [
      { id: "msg_1", type: "message", createdAt: null, data: { type: 1, timestamp: "yesterday", total: 1 } },
    ],
  });
  expect(parse([1])).toMatchObject({ events: [{ type: "message", data: [1] }] });
});

test.each([
  ["text", "00ff".repeat(16), new TextEncoder().encode("00ff".repeat(16))],
  ["hex", "00ff", Uint8Array.of(0, 255)],
  ["base64", "AP8=", Uint8Array.of(0, 255)],
] as const)("signed by every scheme with an imported secret in %s", async (secretEncoding, own, key) => {
  const body = envelope(fields);
  const options = { secrets: [own], secretEncoding };
  expect((await deliver({ body, secrets: [key], options })).status).toBe(200);
  expect((await deliver({ body, secrets: [key], schemes: ["t-v1"], options })).status).toBe(200);
});

test.each([
  ["text", "their secret"],
  ["text", "whsec_dGhlaXJzIGlzIGFsc28gd3JpdHRlbiBzby4="],
  ["hex", "00ff"],
  ["base64", "AP8="],
  ["base64", "whsec_AP8="],
] as const)("an imported secret in %s, %j, before, during and after its rotation", async (encoding, own) => {
  const imported = rawSecret(importedKey(own, encoding) as Uint8Array);
  const body = envelope(fields);
  for (const scheme of ["t-v1", "two-headers", "sha256", "standard-webhooks"]) {
    const options = { secrets: [own, secret], secretEncoding: encoding, schemes: [scheme] };
    const statusOf = async (secrets: readonly Secret[]) =>
      (await deliver({ body, secrets, schemes: [scheme], options })).status;
    expect([scheme, await statusOf([imported])]).toEqual([scheme, 200]);
    expect([scheme, await statusOf([imported, secret])]).toEqual([scheme, 200]);
    expect([scheme, await statusOf([secret])]).toEqual([scheme, 200]);
    expect([scheme, await statusOf([generateSecret()])]).toEqual([scheme, 401]);
  }
});

test("a key pair beside an imported secret", async () => {
  const { signingKey, publicKey } = await generateSigningKey();
  const scheme = "standard-webhooks-v1a";
  const options = { secrets: ["00ff", publicKey], secretEncoding: "hex" } as const;
  const delivery = { body: envelope(fields), schemes: [scheme], secrets: [signingKey], options };
  expect((await deliver(delivery)).status).toBe(200);
});

test("an envelope with other field names, signed with or without the id", async () => {
  const envelopeFields = {
    id: "event_id",
    type: "event",
    data: "payload",
    subject: "about",
    sequence: "number",
  };
  const body = envelope(fields, envelopeFields);
  const read = { id, type: "order.paid", subject: "order/1", sequence: 7, data: { total: 1 } };
  for (const schemes of [["t-v1"], ["standard-webhooks"]]) {
    const { status, event } = await deliver({ body, schemes, options: { envelopeFields } });
    expect([status, event]).toEqual([200, expect.objectContaining({ ...read, createdAt: fields.createdAt })]);
  }
  expect((await deliver({ body, schemes: ["t-v1"] })).status).toBe(400);
  expect(() => posthorn({ secrets: [secret], envelopeFields: { id: "type" } })).toThrow(
    '`envelopeFields` of posthorn(): The envelope would have "type" twice',
  );
});

test.each(["sha512", "sha256:sha256_v2", "sha512:v3", "two-headers:v1"])(
  "bare data signed by %s",
  async (scheme) => {
    const headers = { "X-Webhook-Id": id, "X-Webhook-Event": "order.paid" };
    const delivery = { body: bytes({ total: 1 }), headers, schemes: [scheme], secrets: ["their secret"] };
    const options = { schemes: [scheme], id: "header" } as const;
    expect(await deliver({ ...delivery, options })).toMatchObject({
      status: 200,
      event: { data: { total: 1 } },
    });
    const others = { schemes: ["sha256"], id: "header" } as const;
    expect((await deliver({ ...delivery, options: others })).status).toBe(401);
  },
);

test("an unknown option is rejected with a suggestion", () => {
  const mistyped = { secrets: [secret], scheme: ["sha256"] } as PosthornSourceOptions;
  expect(() => posthorn(mistyped)).toThrow('posthorn() has no option "scheme". Did you mean schemes?');
  expect(() => standardWebhooks(mistyped)).toThrow('standardWebhooks() has no option "scheme".');
});
