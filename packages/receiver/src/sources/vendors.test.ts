// Every vendor's source: what its secret signed is accepted and read, and nothing else.
import { vendors } from "@posthorn/wire";
import { expect, test } from "vitest";
import {
  signedSample,
  type VendorSample,
  vendorPresets,
  vendorSamples,
} from "../../../../tests/support/vendor-samples.ts";
import { discord, github, square, stripe, svix } from "../index.ts";
import type { RawRequest, Source } from "../source.ts";

const NOW = new Date(1_700_000_000_000);
const DIGEST = /^[0-9a-f]{64}$/;

function sourceOf({ vendor, verifying }: VendorSample, changed: object = {}): Source {
  return vendorPresets[vendor]({ secrets: verifying, ...changed });
}

function authenticate(source: Source, request: RawRequest, now = NOW, toleranceSeconds = 300) {
  return source.authenticate(request, { toleranceSeconds, now });
}

async function verdict(source: Source, request: RawRequest, now = NOW): Promise<string> {
  const result = await authenticate(source, request, now);
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
  "$vendor: the old and the new secret are accepted, another is not",
  async (sample) => {
    const both = sourceOf(sample);
    for (const secret of sample.signing) {
      expect(await verdict(both, await signedSample(sample, NOW, { secrets: [secret] }))).toBe("ok");
    }
    const stranger = sourceOf(sample, { secrets: [sample.stranger] });
    expect(await verdict(stranger, await signedSample(sample, NOW))).toBe("no_match");
  },
);

// GitLab signs nothing: it sends its secret along.
const signing = vendorSamples.filter(({ vendor }) => vendor !== "gitlab");

test.each(signing)("$vendor: a changed byte anywhere in the body fails", async (sample) => {
  const source = sourceOf(sample);
  const request = await signedSample(sample, NOW);
  for (let at = 0; at < request.body.length; at++) {
    const body = request.body.map((byte, index) => (index === at ? byte ^ 1 : byte));
    expect(await verdict(source, { ...request, body }), `at ${at}`).not.toBe("ok");
  }
  for (const body of [request.body.slice(1), request.body.slice(0, -1), new Uint8Array()]) {
    expect(await verdict(source, { ...request, body })).not.toBe("ok");
  }
});

test.each(vendorSamples)(
  "$vendor: a changed character anywhere in what it signs in headers fails",
  async (sample) => {
    const source = sourceOf(sample);
    const request = await signedSample(sample, NOW);
    const signed = Object.entries(request.headers).filter(([name]) => !(name in sample.headers));
    for (const [name, value] of signed) {
      for (let at = 0; at < value.length; at++) {
        const changed = value.slice(0, at) + (value[at] === "1" ? "2" : "1") + value.slice(at + 1);
        const headers = { ...request.headers, [name]: changed };
        expect(await verdict(source, { ...request, headers }), `${name} at ${at}`).not.toBe("ok");
      }
      for (const changed of [
        value.slice(0, -1),
        `${value}1`,
        value.toUpperCase() === value ? "" : value.toUpperCase(),
      ]) {
        expect(
          await verdict(source, { ...request, headers: { ...request.headers, [name]: changed } }),
        ).not.toBe("ok");
      }
      const { [name]: _, ...without } = request.headers;
      expect(await verdict(source, { ...request, headers: without })).toBe("header_missing");
      const twice = { ...request.headers, [name.toUpperCase()]: value, [name.toLowerCase()]: value };
      const joined = new Headers(request.headers);
      joined.append(name, value);
      expect(await verdict(source, { ...request, headers: joined })).toBe("malformed");
      if (name !== name.toLowerCase()) {
        expect(await verdict(source, { ...request, headers: twice })).toBe("malformed");
      }
    }
  },
);

const timed = vendorSamples.filter(
  ({ vendor }) => !["github", "gitlab", "shopify", "square", "twilio"].includes(vendor),
);

test.each(timed)("$vendor: the tolerance holds in both directions", async (sample) => {
  const source = sourceOf(sample);
  const request = await signedSample(sample, NOW);
  const after = (seconds: number) => verdict(source, request, new Date(NOW.getTime() + seconds * 1000));
  expect(await after(300)).toBe("ok");
  expect(await after(301)).toBe("too_old");
  expect(await after(-300)).toBe("ok");
  expect(await after(-301)).toBe("too_new");
});

const overBytes = vendorSamples.filter(({ vendor }) => !["linear", "twilio"].includes(vendor));

test.each(overBytes)(
  "$vendor: an empty body and one that is not UTF-8 verify, and are malformed",
  async (sample) => {
    const source = sourceOf(sample);
    for (const body of [new Uint8Array(), Uint8Array.of(0xff, 0x00, 0xfe)]) {
      const request = await signedSample(sample, NOW, { body });
      expect(await verdict(source, request)).toBe("ok");
      expect(await parse(source, request)).toMatchObject({ kind: "malformed" });
    }
  },
);

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

test("why it was refused is found out when it is asked, by the source that refused", async () => {
  const [sample] = vendorSamples as [VendorSample];
  const request = await signedSample(sample, NOW);
  const refused = await authenticate(sourceOf(sample), {
    ...request,
    body: Uint8Array.of(...request.body, 10),
  });
  expect(refused).toMatchObject({ ok: false, reason: "no_match" });
  expect(refused.ok || (await refused.explain?.())).toEqual({
    reason: "body_changed",
    hint: expect.stringContaining("a line ending was added"),
  });
});

test("two accounts of a vendor are told apart by their names", () => {
  expect(stripe({ secrets: ["whsec_1"], name: "stripe-eu" }).name).toBe("stripe-eu");
});

test("secrets that cannot verify are refused when the source is made, and not quoted", () => {
  for (const secrets of [[], [""], [undefined], ["good", ""], ["whsk_private"]]) {
    expect(() => stripe({ secrets })).toThrow(TypeError);
  }
  expect(() => svix({ secrets: ["not base64!"] })).toThrow(
    "secrets[0] of svix() should be whsec_ and base64.",
  );
  expect(() => discord({ secrets: ["ABCDEF"] })).toThrow(
    "secrets[0] of discord() should be a public key, in hex or as whpk_ and base64.",
  );
});

test("a key of Stripe's API, and a secret as it comes from a file, are refused with what to do", () => {
  for (const key of ["sk_test_123", "pk_live_123", "rk_test_123"]) {
    expect(() => stripe({ secrets: [key] })).toThrow("webhook secret begins with whsec_");
    github({ secrets: [key] });
  }
  expect(() => stripe({ secrets: ["whsec_x\n"] })).toThrow("ends with a line break");
  expect(() => github({ secrets: ["  "] })).toThrow("secrets[0] of github() is missing.");
  expect(() => github({ secrets: ["a secret "] })).toThrow("white space around it. Trim it");
});

test("an option that a vendor has no use for is refused", () => {
  const secrets = ["secret"];
  expect(() => stripe({ secrets, url: "https://example.com" } as never)).toThrow('no option "url"');
  expect(() => square({ secrets, id: "digest" } as never)).toThrow('no option "id"');
  expect(() => github({ secrets, secret: "x" } as never)).toThrow("Did you mean secrets?");
  expect(() => github({ secrets, id: "body" } as never)).toThrow('must be "digest"');
});

function sampleOf(vendor: string): VendorSample {
  return vendorSamples.find((sample) => sample.vendor === vendor) as VendorSample;
}

test("Slack's and Twitch's challenges are sent back, and Discord's pings answered", async () => {
  const responseTo = async (vendor: string, body: string) => {
    const sample = sampleOf(vendor);
    return parse(sourceOf(sample), await signedSample(sample, NOW, { body: bytes(body) }));
  };
  const text = { "content-type": "text/plain" };
  expect(await responseTo("slack", '{"type":"url_verification","challenge":"3eZb","token":"x"}')).toEqual({
    kind: "answer",
    answer: { status: 200, headers: text, body: "3eZb" },
  });
  expect(await responseTo("twitch", '{"challenge":"pogchamp","subscription":{"type":"a"}}')).toEqual({
    kind: "answer",
    answer: { status: 200, headers: text, body: "pogchamp" },
  });
  expect(await responseTo("discord", '{"version":1,"type":0}')).toMatchObject({
    answer: { status: 204, body: "" },
  });
  expect(await responseTo("discord", '{"id":"1","type":1}')).toMatchObject({
    answer: { body: '{"type":1}' },
  });
});

test("a slash command of Slack is a form whose digest is its id; an interaction is the JSON in it", async () => {
  const sample = sampleOf("slack");
  const command = bytes("command=%2Fdeploy&text=now&trigger_id=1.2");
  const parsed = await parse(sourceOf(sample), await signedSample(sample, NOW, { body: command }));
  expect(parsed).toMatchObject({
    kind: "events",
    events: [
      { id: expect.stringMatching(DIGEST), type: "/deploy", data: { text: "now", trigger_id: "1.2" } },
    ],
  });
  const interaction = bytes(`payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"1.2"}')}`);
  expect(await parse(sourceOf(sample), await signedSample(sample, NOW, { body: interaction }))).toMatchObject(
    {
      events: [{ type: "block_actions", payload: { trigger_id: "1.2" } }],
    },
  );
});

test("each event of HubSpot's list is a message that can be parsed standalone", async () => {
  const sample = sampleOf("hubspot");
  const event = (id: number) =>
    `{"eventId":${id},"subscriptionId":1,"portalId":1,"occurredAt":1700000000000,"subscriptionType":"t"}`;
  const source = sourceOf(sample);
  const parsed = await parse(
    source,
    await signedSample(sample, NOW, { body: bytes(`[${event(1)},${event(2)}]`) }),
  );
  const events = parsed.kind === "events" ? parsed.events : [];
  expect(events.map(({ id }) => id)).toEqual(["1-1-1-1700000000000", "1-1-2-1700000000000"]);
  for (const { standalone, ...whole } of events) {
    const { headers, body } = standalone as NonNullable<typeof standalone>;
    const again = source.parse({ source: source.name, signedId: null, headers, body });
    expect(again).toEqual({ kind: "events", events: [whole] });
  }
  expect(await parse(source, await signedSample(sample, NOW, { body: bytes("[]") }))).toEqual({
    kind: "events",
    events: [],
  });
});

test("HubSpot's URL is signed with some of its escapes decoded", async () => {
  const sample = sampleOf("hubspot");
  const escaped = "https://hooks.example.com/in?to=a%3Ab%2Fc%3f%40%21%24%27%28%29%2A%2C%3B&kept=%20%26%25";
  const decoded = "https://hooks.example.com/in?to=a:b/c?@!$'()*,;&kept=%20%26%25";
  const request = await signedSample(sample, NOW, { url: decoded });
  expect(await verdict(sourceOf(sample), { ...request, url: escaped })).toBe("ok");
});

test("Twilio's JSON is vouched for by the digest in the URL", async () => {
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

test("a form of Twilio spelt otherwise is the same event, not another", async () => {
  const sample = sampleOf("twilio");
  const idOf = async (body: string) => {
    const request = { ...(await signedSample(sample, NOW, { body: bytes("a=1&b=x+y") })), body: bytes(body) };
    const parsed = await parse(sourceOf(sample), request);
    return parsed.kind === "events" ? parsed.events[0]?.id : parsed.kind;
  };
  expect(await idOf("b=x%20y&a=1")).toBe(await idOf("a=1&b=x+y"));
});

test("a form of more parameters than Twilio has is not sorted for anybody", async () => {
  const sample = sampleOf("twilio");
  const form = (count: number) => bytes(Array.from({ length: count }, (_, at) => `a${at}=1`).join("&"));
  const sorted = (count: number) =>
    "https://hooks.example.com/in?account=1" +
    Array.from({ length: count }, (_, at) => `a${at}`)
      .toSorted()
      .map((name) => `${name}1`)
      .join("");
  const { createHmac } = await import("node:crypto");
  const verdictOf = (count: number) => {
    const signature = createHmac("sha1", sample.verifying[0]).update(sorted(count)).digest("base64");
    const headers = { "x-twilio-signature": signature };
    return verdict(sourceOf(sample), { method: "POST", url: sample.url, headers, body: form(count) });
  };
  expect(await verdictOf(1_000)).toBe("ok");
  expect(await verdictOf(1_001)).toBe("no_match");
});

test("Linear's body without a time in milliseconds is refused, though it was signed", async () => {
  const sample = sampleOf("linear");
  for (const body of ['{"type":"Issue"}', '{"webhookTimestamp":1700000000}', "no JSON", "null"]) {
    const result = await authenticate(
      sourceOf(sample),
      await signedSample(sample, NOW, { body: bytes(body) }),
    );
    expect(result).toMatchObject({ ok: false, reason: "malformed" });
  }
});
