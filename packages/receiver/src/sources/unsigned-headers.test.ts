// An attacker who has a signed request can change every unsigned header, and gains nothing by it.
import { envelope, sign } from "@posthorn/wire";
import { describe, expect, test } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import {
  cloudEvent,
  NOW,
  secret,
  signedDelivery,
} from "../../../../tests/support/receiver/signed-delivery.ts";
import {
  signedSample,
  vendorPresets,
  vendorSamples,
} from "../../../../tests/support/samples/vendor-samples.ts";
import type { MessageKey, WebhookRequest } from "../model.ts";
import type { Source } from "../source.ts";
import { posthorn } from "./posthorn.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

type HeaderValues = Readonly<Record<string, string>>;
type Signed = Omit<WebhookRequest, "headers"> & { readonly headers: HeaderValues };

const FORGED: readonly HeaderValues[] = [
  ...["application/json", "text/plain", "application/x-www-form-urlencoded", ""].map(typed),
  ...["application/cloudevents+json", "application/cloudevents-batch+json"].map(typed),
  { "ce-specversion": "1.0", "ce-id": "forged", "ce-source": "/x", "ce-type": "account.deleted" },
  { "x-webhook-event": "account.deleted", "x-webhook-id": "evt_01890a5dac96774bbcceb302099a8057" },
  { "webhook-id": "forged" },
  { "x-request-id": "forged", date: "forged", host: "forged.example", "user-agent": "forged" },
];

function typed(contentType: string): HeaderValues {
  return { "content-type": contentType };
}

/** Each header left out or changed, and each forged one added. */
function* changesOf({ headers }: Signed): Generator<HeaderValues> {
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
async function keysOf(sources: readonly Source[], request: Signed): Promise<string[]> {
  const keys: string[] = [];
  const keyOf = ({ source: name, id }: MessageKey) => `${name} ${id}`;
  const { receiver } = openReceiver({ sources });
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
  ])("from %s is handled once, whatever its unsigned headers contain", async (name, schemes) => {
    const source =
      name === "posthorn" ? posthorn({ secrets: [secret] }) : standardWebhooks({ secrets: [secret] });
    const timestamp = String(NOW.getTime() / 1000);
    const signature = await sign({ schemes, secrets: [secret], id: `evt_${uuid}`, timestamp, body });
    const headers = { "content-type": "application/json", "x-webhook-event": "order.paid", ...signature };
    const handled = await keysOf([source], { method: "POST", url: "/", headers, body });
    expect(handled).toEqual(keys.map((key) => expect.stringContaining(key)));
  });
});

test("in binary mode the id is the signed one, whatever ce-id contains", async () => {
  const source = standardWebhooks({ secrets: [secret], format: "cloudevents-binary" });
  const headers = {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-source": "/shop",
    "ce-type": "order.paid",
  };
  const request = await signedDelivery({ id: "msg_1", payload: { total: 1 }, headers });
  expect(await keysOf([source], request)).toEqual(["standard-webhooks msg_1"]);
});

test("an unknown format is rejected when the source is created", () => {
  const options = { secrets: [secret], format: "binary" as "cloudevents-binary" };
  expect(() => posthorn(options)).toThrow('`format` of posthorn() must be "cloudevents-binary"');
  expect(() => standardWebhooks(options)).toThrow("`format` of standardWebhooks()");
});

const UNSIGNED_IDS: readonly string[] = ["github", "gitlab", "shopify", "linear"];

// All on one URL, distinguished by their headers.
const everyVendor = vendorSamples.map(({ vendor, verifying }) =>
  vendorPresets[vendor]({
    secrets: [...verifying],
    ...(UNSIGNED_IDS.includes(vendor) && { id: "digest" as const }),
  }),
);

test.each(vendorSamples)(
  "an event of $vendor is handled once, whatever its unsigned headers contain",
  async (sample) => {
    const keys = await keysOf(everyVendor, await signedSample(sample, NOW));
    expect(keys).toEqual([expect.stringContaining(`${sample.vendor} `)]);
  },
);

test("an event of twilio is handled once, whatever port the Host header contains", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "twilio") as (typeof vendorSamples)[0];
  const request = await signedSample(sample, NOW);
  const { host } = new URL(request.url);
  const seen: string[] = [];
  const { receiver } = openReceiver({
    sources: [vendorPresets.twilio({ secrets: [...sample.verifying] })],
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
