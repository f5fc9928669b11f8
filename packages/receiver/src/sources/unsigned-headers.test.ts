// Whoever got hold of a signed request can change every header that is not signed, and gains nothing by it.
import { envelope, sign } from "@posthorn/wire";
import { describe, expect, test } from "vitest";
import { cloudEvent, NOW, secret } from "../../../../tests/support/receiver/signed-delivery.ts";
import { signedSample, vendorPresets, vendorSamples } from "../../../../tests/support/vendor-samples.ts";
import type { MessageKey, WebhookRequest } from "../model.ts";
import { createReceiver } from "../receiver.ts";
import type { Source } from "../source.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { posthorn } from "./posthorn.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

type Given = Readonly<Record<string, string>>;
type Signed = Omit<WebhookRequest, "headers"> & { readonly headers: Given };

const FORGED: readonly Given[] = [
  ...["application/json", "text/plain", "application/x-www-form-urlencoded", ""].map(typed),
  ...["application/cloudevents+json", "application/cloudevents-batch+json"].map(typed),
  { "ce-specversion": "1.0", "ce-id": "forged", "ce-source": "/x", "ce-type": "account.deleted" },
  { "x-webhook-event": "account.deleted", "x-webhook-id": "evt_01890a5dac96774bbcceb302099a8057" },
  { "webhook-id": "forged" },
  { "x-request-id": "forged", date: "forged", host: "forged.example", "user-agent": "forged" },
];

function typed(contentType: string): Given {
  return { "content-type": contentType };
}

/** Each header left out or changed, and each forged one added. */
function* changesOf({ headers }: Signed): Generator<Given> {
  for (const [name, value] of Object.entries(headers)) {
    const { [name]: _, ...without } = headers;
    yield without;
    yield { ...headers, [name]: `${value}0` };
  }
  for (const forged of FORGED) {
    const names = new Set(Object.keys(forged));
    const kept = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
    yield { ...Object.fromEntries(kept), ...forged };
  }
}

/** The keys under which a request and its forgeries are handled. */
async function keysOf(source: Source, request: Signed, now: Date): Promise<string[]> {
  const keys: string[] = [];
  const keyOf = ({ source: name, id }: MessageKey) => `${name} ${id}`;
  const receiver = createReceiver({
    sources: [source],
    store: memoryStore(),
    clock: () => now,
    onRejected() {},
  });
  receiver.fallback((event) => void keys.push(keyOf(event)));
  expect((await receiver.receive(request)).status).toBe(200);
  for (const headers of changesOf(request)) {
    const { status } = await receiver.receive({ ...request, headers });
    expect([200, 400, 401]).toContain(status);
  }
  return keys;
}

const uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
const bodies: readonly [what: string, body: Uint8Array<ArrayBuffer>, keys: readonly string[]][] = [
  ["an envelope", posthornEnvelope(), ["evt_"]],
  ["a CloudEvent", json(cloudEvent("1")), ["evt_"]],
  ["a batch", json([cloudEvent("1"), cloudEvent("2")]), ["/shop 1", "/shop 2"]],
  ["a list", json([1, 2]), ["evt_"]],
];

describe.each(bodies)("%s", (_, body, keys) => {
  test.each([
    ["posthorn", ["standard-webhooks", "t-v1"]],
    ["standardWebhooks", ["standard-webhooks"]],
  ])("from %s is handled once, whatever its unsigned headers say", async (name, schemes) => {
    const source =
      name === "posthorn" ? posthorn({ secrets: [secret] }) : standardWebhooks({ secrets: [secret] });
    const timestamp = String(NOW.getTime() / 1000);
    const signature = await sign({ schemes, secrets: [secret], id: `evt_${uuid}`, timestamp, body });
    const headers = { "content-type": "application/json", "x-webhook-event": "order.paid", ...signature };
    const handled = await keysOf(source, { method: "POST", url: "/", headers, body }, NOW);
    expect(handled).toEqual(keys.map((key) => expect.stringContaining(key)));
  });
});

test("with the binary mode asked for the id is the signed one, whatever ce-id says", async () => {
  const source = standardWebhooks({ secrets: [secret], format: "cloudevents-binary" });
  const timestamp = String(NOW.getTime() / 1000);
  const body = json({ total: 1 });
  const signature = await sign({
    schemes: ["standard-webhooks"],
    secrets: [secret],
    id: "msg_1",
    timestamp,
    body,
  });
  const headers = {
    "content-type": "application/json",
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
    ...signature,
  };
  expect(await keysOf(source, { method: "POST", url: "/", headers, body }, NOW)).toEqual([
    "standard-webhooks msg_1",
  ]);
});

test("a format that does not exist is refused when the source is made", () => {
  const options = { secrets: [secret], format: "binary" as "cloudevents-binary" };
  expect(() => posthorn(options)).toThrow('`format` of posthorn() must be "cloudevents-binary"');
  expect(() => standardWebhooks(options)).toThrow("`format` of standardWebhooks()");
});

const UNSIGNED_IDS: readonly string[] = ["github", "gitlab", "shopify", "linear"];

test.each(vendorSamples.map((sample) => [sample.vendor, sample] as const))(
  "from %s it is handled once, whatever its unsigned headers say",
  async (vendor, sample) => {
    const options = {
      secrets: [...sample.verifying],
      ...(UNSIGNED_IDS.includes(vendor) && { id: "digest" as const }),
    };
    const request = await signedSample(sample, NOW);
    expect(await keysOf(vendorPresets[vendor](options), request, NOW)).toHaveLength(1);
  },
);

test("from twilio it is handled once, whatever port the Host header names", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "twilio") as (typeof vendorSamples)[0];
  const request = await signedSample(sample, NOW);
  const { host } = new URL(request.url);
  const seen: string[] = [];
  const receiver = createReceiver({
    sources: [vendorPresets.twilio({ secrets: [...sample.verifying] })],
    store: memoryStore(),
    clock: () => NOW,
    onRejected() {},
  });
  receiver.fallback(({ id }) => void seen.push(id));
  for (const port of ["", ":443", ":1", ":2"]) {
    const url = request.url.replace(host, `${host}${port}`);
    expect((await receiver.receive({ ...request, url })).status).toBe(200);
  }
  expect(seen).toHaveLength(1);
});

function posthornEnvelope(): Uint8Array<ArrayBuffer> {
  const fields = { apiVersion: "1", createdAt: NOW, tenant: "t1", subject: "order/1", sequence: 7 };
  return envelope({ id: uuid, type: "order.paid", ...fields, payload: json({ total: 1 }) });
}

function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}
