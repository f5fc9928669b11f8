import nodeCrypto from "node:crypto";
import { vendors } from "@posthorn/wire";
import { expect, test } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import {
  signedSample,
  type VendorSample,
  vendorPresets,
  vendorSamples,
} from "../../../../tests/support/samples/vendor-samples.ts";
import { discord, github, square, stripe, svix, type WebhookEvent } from "../index.ts";
import type { RawRequest, Source } from "../source.ts";

const NOW = new Date(1_700_000_000_000);
const DIGEST = /^[0-9a-f]{64}$/;

function sourceOf({ vendor, verifying }: VendorSample, changed: object = {}): Source {
  return vendorPresets[vendor]({ secrets: verifying, ...changed });
}

function authenticate(source: Source, request: RawRequest) {
  return source.authenticate(request, { toleranceSeconds: 300, now: NOW });
}

async function verdict(source: Source, request: RawRequest): Promise<string> {
  const result = await authenticate(source, request);
  return result.ok ? "ok" : result.reason;
}

/** As an inbox would: only the headers that are kept. */
async function parse(source: Source, request: RawRequest) {
  const result = await authenticate(source, request);
  if (!result.ok) throw new Error(result.reason);
  const lower = new Map(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value as string]),
  );
  const headers = Object.fromEntries(source.parsedHeaders.map((name) => [name, lower.get(name)]));
  return source.parse({ source: source.name, signedId: result.signedId, headers, body: request.body });
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

test("there is a preset and a sample for every description", () => {
  expect(vendorSamples.map(({ vendor }) => vendor).toSorted()).toEqual(Object.keys(vendors).toSorted());
});

test.each(vendorSamples)("$vendor: an event is accepted and read", async (sample) => {
  const source = sourceOf(sample);
  const request = await signedSample(sample, NOW);
  expect(source.name).toBe(sample.vendor);
  expect(source.matches(request.headers)).toBe(true);
  expect(source.matches(new Headers(request.headers))).toBe(true);
  expect(source.matches({})).toBe(false);
  const parsed = await parse(source, request);
  expect(parsed).toMatchObject({
    kind: "events",
    events: [{ type: sample.event.type, data: sample.event.data }],
  });
  const [event] = parsed.kind === "events" ? parsed.events : [];
  if (sample.event.id === null) expect(event?.id).toMatch(DIGEST);
  else expect(event?.id).toBe(sample.event.id);
  const isDated = vendors[sample.vendor].time.length > 0 && sample.vendor !== "discord";
  expect(event?.createdAt?.getTime() ?? null).toSatisfy((time: number | null) =>
    isDated ? time !== null && Math.abs(time - NOW.getTime()) < 1000 : time === null,
  );
});

test.each(vendorSamples)(
  "$vendor: a changed body and a changed or missing signed header are rejected",
  async (sample) => {
    const source = sourceOf(sample);
    const request = await signedSample(sample, NOW);
    const body = request.body.map((byte, at) => (at === request.body.length >> 1 ? byte ^ 1 : byte));
    // GitLab sends a token and signs nothing.
    if (sample.vendor !== "gitlab") expect(await verdict(source, { ...request, body })).not.toBe("ok");
    const signed = Object.entries(request.headers).filter(([name]) => !(name in sample.headers));
    for (const [name, value] of signed) {
      const at = value.length >> 1;
      const changed = value.slice(0, at) + (value[at] === "1" ? "2" : "1") + value.slice(at + 1);
      const headers = { ...request.headers, [name]: changed };
      expect(await verdict(source, { ...request, headers }), name).not.toBe("ok");
      const { [name]: _, ...without } = request.headers;
      expect(await verdict(source, { ...request, headers: without })).toBe("header_missing");
    }
  },
);

test("a body that is not UTF-8 is malformed, although the signature is valid", async () => {
  const sample = sampleOf("stripe");
  const request = await signedSample(sample, NOW, { body: Uint8Array.of(0xff, 0x00, 0xfe) });
  expect(await parse(sourceOf(sample), request)).toMatchObject({ kind: "malformed" });
});

const withUrl = vendorSamples.filter(({ vendor }) => ["square", "twilio", "hubspot"].includes(vendor));

test.each(withUrl)("$vendor: the URL is signed, and behind a proxy it is the one given", async (sample) => {
  const request = await signedSample(sample, NOW);
  const proxied = { ...request, url: "http://10.0.0.1:8080/internal?account=1" };
  expect(await verdict(sourceOf(sample), proxied)).toBe("no_match");
  expect(await verdict(sourceOf(sample, { url: "https://hooks.example.com/in" }), proxied)).toBe("ok");
  const otherQuery = { ...proxied, url: "http://10.0.0.1:8080/internal?account=2" };
  expect(await verdict(sourceOf(sample, { url: "https://hooks.example.com/in" }), otherQuery)).toBe(
    "no_match",
  );
  const unknown = await authenticate(sourceOf(sample), { ...request, url: "/in?account=1" });
  expect(unknown.ok || (await unknown.explain?.())).toEqual({
    reason: "malformed",
    hint: expect.stringContaining("`url`"),
  });
  for (const url of ["hooks.example.com/in", "https://hooks.example.com/in?account=1", "https://"]) {
    expect(() => sourceOf(sample, { url })).toThrow("absolute URL");
  }
});

const unsignedId = vendorSamples.filter(({ vendor }) => ["github", "shopify", "linear"].includes(vendor));

test.each(unsignedId)(
  "$vendor: the id is not signed, and the digest of the body can be it",
  async (sample) => {
    const request = await signedSample(sample, NOW);
    const idOf = async (source: Source, headers = request.headers) => {
      const parsed = await parse(source, { ...request, headers });
      return parsed.kind === "events" ? parsed.events[0]?.id : parsed.kind;
    };
    const [place] = vendors[sample.vendor].id;
    const header = (place as { header: string }).header;
    expect(await idOf(sourceOf(sample), { ...request.headers, [header]: "forged" })).toBe("forged");
    const byDigest = sourceOf(sample, { id: "digest" });
    expect(await idOf(byDigest)).toMatch(DIGEST);
    expect(await idOf(byDigest, { ...request.headers, [header]: "forged" })).toBe(await idOf(byDigest));
    const { [header]: _, ...without } = request.headers;
    expect(await parse(sourceOf(sample), { ...request, headers: without })).toEqual({
      kind: "malformed",
      reason: `There is no id in the header ${header}.`,
    });
  },
);

test("secrets that cannot verify are rejected when the source is created, without quoting them", () => {
  expect(() => stripe({ secrets: ["whsk_private"] })).toThrow("should be a shared secret");
  expect(() => svix({ secrets: ["not base64!"] })).toThrow(
    "secrets[0] of svix() should be whsec_ and base64.",
  );
  expect(() => discord({ secrets: ["ABCDEF"] })).toThrow(
    "secrets[0] of discord() should be a public key, in hex or as whpk_ and base64.",
  );
});

test("a key of Stripe's API is rejected as a secret of stripe()", () => {
  for (const key of ["sk_test_123", "pk_live_123", "rk_test_123"]) {
    expect(() => stripe({ secrets: [key] })).toThrow("webhook secret begins with whsec_");
    github({ secrets: [key] });
  }
});

test("an option that does not apply to a vendor is rejected", () => {
  const secrets = ["secret"];
  expect(() => stripe({ secrets, url: "https://example.com" } as never)).toThrow('no option "url"');
  expect(() => square({ secrets, id: "digest" } as never)).toThrow('no option "id"');
  expect(() => github({ secrets, secret: "x" } as never)).toThrow("Did you mean secrets?");
  expect(() => github({ secrets, id: "body" } as never)).toThrow('must be "digest"');
});

function sampleOf(vendor: string): VendorSample {
  return vendorSamples.find((sample) => sample.vendor === vendor) as VendorSample;
}

const parseBody = async (vendor: string, body: string) =>
  parse(sourceOf(sampleOf(vendor)), await signedSample(sampleOf(vendor), NOW, { body: bytes(body) }));
const TEXT = { "content-type": "text/plain" };
const COMMAND = { type: "/deploy", data: { text: "now", trigger_id: "1.2" } };
const ACTION = { type: "block_actions", trigger_id: "1.2" };

test.each<[what: string, vendor: string, body: string, parsed: object]>([
  [
    "a challenge of Slack is echoed",
    "slack",
    '{"type":"url_verification","challenge":"3eZb","token":"x"}',
    { kind: "answer", answer: { status: 200, headers: TEXT, body: "3eZb" } },
  ],
  [
    "a challenge of Twitch is echoed",
    "twitch",
    '{"challenge":"pogchamp","subscription":{"type":"a"}}',
    { kind: "answer", answer: { status: 200, headers: TEXT, body: "pogchamp" } },
  ],
  [
    "a ping of Discord is answered",
    "discord",
    '{"version":1,"type":0}',
    { answer: { status: 204, body: "" } },
  ],
  ["its interactions' ping, too", "discord", '{"id":"1","type":1}', { answer: { body: '{"type":1}' } }],
  [
    "a slash command of Slack is a form whose digest is its id",
    "slack",
    "command=%2Fdeploy&text=now&trigger_id=1.2",
    { kind: "events", events: [{ id: expect.stringMatching(DIGEST), ...COMMAND }] },
  ],
  [
    "an interaction of Slack is the JSON in a form",
    "slack",
    `payload=${encodeURIComponent(JSON.stringify(ACTION))}`,
    { events: [{ type: "block_actions", payload: ACTION }] },
  ],
  ["an empty list of HubSpot has no events", "hubspot", "[]", { kind: "events", events: [] }],
  ["an empty body is malformed", "stripe", "", { kind: "malformed" }],
])("%s", async (_, vendor, body, parsed) => {
  expect(await parseBody(vendor, body)).toMatchObject(parsed);
});

test("each event of HubSpot's list is a message that can be parsed standalone", async () => {
  const event = (id: string) =>
    `{"eventId":${id},"subscriptionId":1,"portalId":1,"occurredAt":1700000000000,"subscriptionType":"t"}`;
  const source = sourceOf(sampleOf("hubspot"));
  const parsed = await parseBody("hubspot", `[${event("1")},${event("12345678901234567890")}]`);
  const events = parsed.kind === "events" ? parsed.events : [];
  const ids = ["1-1-1-1700000000000", "1-1-12345678901234567890-1700000000000"];
  expect(events.map(({ id }) => id)).toEqual(ids);
  for (const { standalone, ...whole } of events) {
    const { headers, body } = standalone as NonNullable<typeof standalone>;
    const again = source.parse({ source: source.name, signedId: null, headers, body });
    expect(again).toEqual({ kind: "events", events: [whole] });
  }
});

test("a list of HubSpot as large as a body may be is read in one pass", async () => {
  const event = `{"eventId":1,"subscriptionId":1,"portalId":1,"occurredAt":1700000000000,"subscriptionType":"t"}`;
  const count = Math.floor(2 ** 20 / (event.length + 1));
  const parsed = await parseBody("hubspot", `[${Array(count).fill(event).join(",")}]`);
  expect(parsed.kind === "events" && parsed.events.length).toBe(count);
});

test("HubSpot's URL is signed with some of its escapes decoded", async () => {
  const sample = sampleOf("hubspot");
  const escaped = "https://hooks.example.com/in?to=a%3Ab%2Fc%3f%40%21%24%27%28%29%2A%2C%3B&kept=%20%26%25";
  const decoded = "https://hooks.example.com/in?to=a:b/c?@!$'()*,;&kept=%20%26%25";
  const request = await signedSample(sample, NOW, { url: decoded });
  expect(await verdict(sourceOf(sample), { ...request, url: escaped })).toBe("ok");
});

test("Twilio's JSON is verified by the digest in the URL", async () => {
  const sample = sampleOf("twilio");
  const body = bytes('{"a":1}');
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("hex");
  const request = await signedSample(sample, NOW, {
    body,
    url: `https://example.com/in?bodySHA256=${digest}`,
  });
  expect(await parse(sourceOf(sample), request)).toMatchObject({ events: [{ data: { a: 1 } }] });
  expect(await verdict(sourceOf(sample), { ...request, body: bytes('{"a":2}') })).toBe("body_changed");
});

test("Twilio may have signed the URL with its port or without", async () => {
  const sample = sampleOf("twilio");
  for (const [signed, received] of [
    ["https://example.com/in", "https://example.com:8443/in"],
    ["https://example.com:443/in", "https://example.com/in"],
    ["http://[::1]:80/in", "http://[::1]/in"],
  ] as const) {
    const request = await signedSample(sample, NOW, { url: signed });
    expect(await verdict(sourceOf(sample), { ...request, url: received })).toBe("ok");
  }
});

test("a form of Twilio in another encoding is the same event", async () => {
  const sample = sampleOf("twilio");
  const idOf = async (body: string) => {
    const request = { ...(await signedSample(sample, NOW, { body: bytes("a=1&b=x+y") })), body: bytes(body) };
    const parsed = await parse(sourceOf(sample), request);
    return parsed.kind === "events" ? parsed.events[0]?.id : parsed.kind;
  };
  expect(await idOf("b=x%20y&a=1")).toBe(await idOf("a=1&b=x+y"));
});

test("a form with more than 1,000 parameters is not sorted", async () => {
  const sample = sampleOf("twilio");
  const form = (count: number) => bytes(Array.from({ length: count }, (_, at) => `a${at}=1`).join("&"));
  const sorted = (count: number) =>
    "https://hooks.example.com/in?account=1" +
    Array.from({ length: count }, (_, at) => `a${at}`)
      .toSorted()
      .map((name) => `${name}1`)
      .join("");
  const verdictOf = (count: number) => {
    const signature = nodeCrypto
      .createHmac("sha1", sample.verifying[0])
      .update(sorted(count))
      .digest("base64");
    const headers = { "x-twilio-signature": signature };
    return verdict(sourceOf(sample), { method: "POST", url: sample.url, headers, body: form(count) });
  };
  expect(await verdictOf(1_000)).toBe("ok");
  expect(await verdictOf(1_001)).toBe("no_match");
});

test("a signed body of Linear without a time in milliseconds is rejected", async () => {
  const sample = sampleOf("linear");
  for (const body of ['{"type":"Issue"}', '{"webhookTimestamp":1700000000}', "no JSON", "null"]) {
    const request = await signedSample(sample, NOW, { body: bytes(body) });
    expect(await verdict(sourceOf(sample), request)).toBe("malformed");
  }
});

/** A receiver of all vendors on one URL, distinguished by their headers. */
function openVendorReceiver() {
  const events: WebhookEvent[] = [];
  const { receiver } = openReceiver({
    sources: vendorSamples.map((sample) => sourceOf(sample)),
    clock: () => NOW,
  });
  receiver.fallback((event) => void events.push(event));
  return { receiver, events };
}

test("Zoom gets its token and its HMAC under the secret that signed the request, and no handler is called", async () => {
  const sample = sampleOf("zoom");
  const { receiver, events } = openVendorReceiver();
  const body = new TextEncoder().encode(
    '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}',
  );
  for (const secret of sample.signing) {
    const response = await receiver.receive(await signedSample(sample, NOW, { body, secrets: [secret] }));
    expect(response).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(JSON.parse(response.body)).toEqual({
      plainToken: "qgg8vlvZRS6UYooatFL8Aw",
      encryptedToken: nodeCrypto.createHmac("sha256", secret).update("qgg8vlvZRS6UYooatFL8Aw").digest("hex"),
    });
  }
  const forged = await signedSample(sample, NOW, { body, secrets: [sample.stranger] });
  expect((await receiver.receive(forged)).status).toBe(401);
  expect(events).toEqual([]);
});

test("the id of GitLab before 17.4 is the event's UUID", async () => {
  const sample = sampleOf("gitlab");
  const { receiver, events } = openVendorReceiver();
  const { headers, ...request } = await signedSample(sample, NOW);
  const { "Idempotency-Key": _, ...older } = headers;
  expect((await receiver.receive({ ...request, headers: older })).status).toBe(200);
  expect(events.map(({ id }) => id)).toEqual(["13792a34-cac6"]);
});
