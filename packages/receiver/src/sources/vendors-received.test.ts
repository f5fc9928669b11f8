// Vendors' requests on their whole way through a receiver.
import nodeCrypto from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  signedSample,
  type VendorSample,
  vendorPresets,
  vendorSamples,
} from "../../../../tests/support/vendor-samples.ts";
import {
  createReceiver,
  memoryStore,
  type RejectedRequest,
  type Source,
  stripe,
  type WebhookEvent,
} from "../index.ts";

const NOW = new Date(1_700_000_000_000);
// All on one URL: their headers tell them apart.
const everyVendor = () =>
  vendorSamples.map(({ vendor, verifying }) => vendorPresets[vendor]({ secrets: verifying }));

function newReceiver(sources: readonly Source[], options: { readonly mode?: "inbox" } = {}) {
  const events: WebhookEvent[] = [];
  const refusals: RejectedRequest[] = [];
  let tellHandled = () => {};
  const handled = new Promise<void>((resolve) => {
    tellHandled = resolve;
  });
  const receiver = createReceiver({
    ...options,
    sources,
    store: memoryStore(),
    clock: () => NOW,
    onRejected: (refusal) => refusals.push(refusal),
  });
  receiver.fallback(async (event) => {
    events.push(event);
    tellHandled();
  });
  return { receiver, events, refusals, handled };
}

test.each(vendorSamples)("$vendor: an event is handled once", async (sample) => {
  const { receiver, events } = newReceiver(everyVendor());
  const request = await signedSample(sample, NOW);
  expect((await receiver.receive(request)).status).toBe(200);
  expect(await receiver.receive(request)).toMatchObject({
    status: 200,
    headers: { "posthorn-duplicate": "true" },
  });
  const { type, data } = sample.event;
  expect(events).toEqual([expect.objectContaining({ source: sample.vendor, type, data })]);
});

test.each(vendorSamples)("$vendor: what comes out of the inbox is what went in", async (sample) => {
  const request = await signedSample(sample, NOW);
  const direct = newReceiver(everyVendor());
  await direct.receiver.receive(request);
  const { receiver, events, handled } = newReceiver(everyVendor(), { mode: "inbox" });
  await receiver.start();
  try {
    expect((await receiver.receive(request)).status).toBe(202);
    await handled;
  } finally {
    await receiver.stop();
  }
  expect(events).toEqual(direct.events);
});

test.each(vendorSamples)("$vendor: a forgery gets the same 401 as every other", async (sample) => {
  const { receiver, events, refusals } = newReceiver([
    vendorPresets[sample.vendor]({ secrets: [sample.stranger] }),
  ]);
  const answer = await receiver.receive(await signedSample(sample, NOW));
  const nothing = await receiver.receive({ method: "POST", url: "/", headers: {}, body: new Uint8Array() });
  expect(answer).toEqual(nothing);
  expect(answer.status).toBe(401);
  expect(refusals[0]).toMatchObject({
    source: sample.vendor,
    reason: "no_match",
    detail: expect.stringMatching(/^None of the given secrets signed these bytes.*\.$/),
  });
  expect(events).toEqual([]);
});

test("of two accounts of a vendor each has its own events, and the other's cost no search for a reason", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "stripe") as VendorSample;
  const [first, second] = sample.signing;
  const { receiver, events, refusals } = newReceiver([
    stripe({ secrets: [first], name: "stripe-eu" }),
    stripe({ secrets: [second], name: "stripe-us" }),
  ]);
  const requests = [
    await signedSample(sample, NOW, { secrets: [first] }),
    await signedSample(sample, NOW, { secrets: [second] }),
  ];
  const computed = vi.spyOn(nodeCrypto, "createHmac");
  onTestFinished(() => computed.mockRestore());
  for (const request of requests) await receiver.receive(request);
  expect(computed).toHaveBeenCalledTimes(3);
  expect(events.map(({ source, id }) => [source, id])).toEqual([
    ["stripe-eu", "evt_1"],
    ["stripe-us", "evt_1"],
  ]);
  expect(refusals).toEqual([]);
});

test("Zoom gets its token back with the HMAC of the secret that signed the question, and no handler hears of it", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "zoom") as VendorSample;
  const { receiver, events } = newReceiver(everyVendor());
  const body = new TextEncoder().encode(
    '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}',
  );
  for (const secret of sample.signing) {
    const answer = await receiver.receive(await signedSample(sample, NOW, { body, secrets: [secret] }));
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(JSON.parse(answer.body)).toEqual({
      plainToken: "qgg8vlvZRS6UYooatFL8Aw",
      encryptedToken: nodeCrypto.createHmac("sha256", secret).update("qgg8vlvZRS6UYooatFL8Aw").digest("hex"),
    });
  }
  const forged = await signedSample(sample, NOW, { body, secrets: [sample.stranger] });
  expect((await receiver.receive(forged)).status).toBe(401);
  expect(events).toEqual([]);
});

test("GitLab before 17.4 has no key of its own for an event: then its event's UUID is the id", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "gitlab") as VendorSample;
  const { receiver, events } = newReceiver(everyVendor());
  const { headers, ...request } = await signedSample(sample, NOW);
  const { "Idempotency-Key": _, ...older } = headers;
  expect((await receiver.receive({ ...request, headers: older })).status).toBe(200);
  expect(events.map(({ id }) => id)).toEqual(["13792a34-cac6"]);
});

test("Slack gets its challenge back, and no handler hears of it", async () => {
  const sample = vendorSamples.find(({ vendor }) => vendor === "slack") as VendorSample;
  const { receiver, events } = newReceiver(everyVendor());
  const body = new TextEncoder().encode('{"type":"url_verification","challenge":"3eZb"}');
  const answer = await receiver.receive(await signedSample(sample, NOW, { body }));
  expect(answer).toMatchObject({ status: 200, body: "3eZb" });
  expect(events).toEqual([]);
});
