// What Posthorn sends, in each of its formats, by each of its schemes.
import { envelope, generateSecret, generateSigningKey, sign, thinEnvelope } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { WebhookEvent } from "../model.ts";
import { createReceiver } from "../receiver.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { type PosthornSourceOptions, posthorn } from "./posthorn.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

const NOW = new Date("2026-06-01T12:00:00Z");
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

interface Given {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly schemes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: Partial<PosthornSourceOptions>;
}

async function deliver({
  body,
  schemes = ["t-v1", "standard-webhooks"],
  secrets = [secret],
  headers,
  options,
}: Given) {
  const events: WebhookEvent[] = [];
  const details: string[] = [];
  const receiver = createReceiver({
    sources: [posthorn({ secrets, ...options })],
    store: memoryStore(),
    clock: () => NOW,
    onRejected: ({ detail }) => details.push(detail),
  });
  receiver.fallback((event) => void events.push(event));
  const { headerPrefix } = options ?? {};
  const signed = await sign({ schemes, secrets, id, timestamp, body, ...(headerPrefix && { headerPrefix }) });
  const request = { method: "POST", url: "/", headers: { ...headers, ...signed }, body };
  const { status } = await receiver.receive(request);
  return { status, event: events[0], details };
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

test("thin: what happened to what", async () => {
  const { event } = await deliver({ body: thinEnvelope(fields) });
  expect(event).toMatchObject({
    id,
    type: "order.paid",
    subject: "order/1",
    sequence: null,
    data: undefined,
  });
});

test("bare data: the id is the signed one, the type a header's", async () => {
  const { event } = await deliver({ body: bytes([1, 2]), headers: { "X-Webhook-Event": "order.paid" } });
  expect(event).toMatchObject({ id, type: "order.paid", data: [1, 2], payload: [1, 2], createdAt: null });
});

test.each<[contentType: string, body: Uint8Array<ArrayBuffer>, data: unknown]>([
  ["text/plain; charset=utf-8", new TextEncoder().encode("12 é"), "12 é"],
  ["text/plain", new TextEncoder().encode("12"), "12"],
  ["image/png", Uint8Array.of(0x89, 0xff, 0), Uint8Array.of(0x89, 0xff, 0)],
  ["application/xml", new TextEncoder().encode("<a/>"), new TextEncoder().encode("<a/>")],
  ["application/vnd.shop+json", bytes({ a: 1 }), { a: 1 }],
  ["application/octet-stream", new Uint8Array(0), undefined],
])("bare data of %s is what its content type says", async (contentType, body, data) => {
  const headers = { "X-Webhook-Event": "order.paid", "content-type": contentType };
  expect(await deliver({ body, headers })).toMatchObject({ status: 200, event: { id, data } });
});

test("a content type, which is not signed, makes no data of an envelope", async () => {
  const headers = { "X-Webhook-Event": "other.type", "content-type": "text/plain" };
  const { event } = await deliver({ body: envelope(fields), headers });
  expect(event).toMatchObject({ type: "order.paid", data: { total: 1 } });
});

test("bare data that looks like an envelope of another event is data", async () => {
  const data = { id: `evt_${uuid.replace("0", "1")}`, type: "order.sent" };
  const { event } = await deliver({ body: bytes(data), headers: { "X-Webhook-Event": "order.paid" } });
  expect(event).toMatchObject({ id, type: "order.paid", data });
});

test("bare data whose id nothing signs is 400, and so is data of no type", async () => {
  const headers = { "X-Webhook-Event": "order.paid", "X-Webhook-Id": id };
  const unsigned = await deliver({ body: bytes([1]), headers, schemes: ["t-v1"] });
  expect(unsigned).toMatchObject({ status: 400, details: [expect.stringContaining("standard-webhooks")] });
  expect(await deliver({ body: bytes([1]) })).toMatchObject({ status: 400 });
});

test.each([["t-v1"], ["two-headers"], ["standard-webhooks"]])("signed by %s alone", async (scheme) => {
  expect(await deliver({ body: envelope(fields), schemes: [scheme] })).toMatchObject({
    status: 200,
    event: { id },
  });
});

test("signed by sha256, only when asked for: it signs no time", async () => {
  const given = { body: envelope(fields), schemes: ["sha256"] };
  expect((await deliver(given)).status).toBe(401);
  expect((await deliver({ ...given, options: { schemes: ["sha256"] } })).status).toBe(200);
});

test("signed by a key whose public half the receiver has, alone or beside a shared secret", async () => {
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

test("with a header prefix of the installation's own", async () => {
  const options = { headerPrefix: "X-Shop" };
  const given = { body: bytes([1]), headers: { "X-Shop-Event": "order.paid" }, options };
  expect((await deliver(given)).event).toMatchObject({ id, type: "order.paid" });
});

test("a body that is no JSON, or not UTF-8, is 400 with its reason", async () => {
  expect(await deliver({ body: new TextEncoder().encode("{") })).toMatchObject({
    status: 400,
    details: [expect.stringContaining("not JSON")],
  });
  expect(await deliver({ body: Uint8Array.of(0x22, 0xff, 0x22) })).toMatchObject({
    status: 400,
    details: ["The body is not UTF-8."],
  });
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

test("an option that nobody knows is refused with what was probably meant", () => {
  const mistyped = { secrets: [secret], scheme: ["sha256"] } as PosthornSourceOptions;
  expect(() => posthorn(mistyped)).toThrow('posthorn() has no option "scheme". Did you mean schemes?');
  expect(() => standardWebhooks(mistyped)).toThrow('standardWebhooks() has no option "scheme".');
});
