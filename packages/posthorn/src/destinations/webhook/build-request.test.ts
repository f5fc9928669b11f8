// The request of a delivery: its headers, the secrets that sign it, and that the signed bytes are sent.
import { createHmac } from "node:crypto";
import { examine, generateSecret, verify } from "@posthorn/wire";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { expect, test } from "vitest";
import type { ClaimedDelivery } from "../../model.ts";
import { buildRequest, type WebhookTarget } from "./build-request.ts";

const EVENT_UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
const DELIVERY_UUID = "01890a5d-ac97-7000-8000-000000000001";
const SECRET = generateSecret();
const NOW = new Date(Math.floor(Date.now() / 1000) * 1000 + 999);
const SECONDS = String(Math.floor(NOW.getTime() / 1000));
const DATA = '{"b":1.0,"a":12345678901234567890}';

const delivery: ClaimedDelivery = {
  id: DELIVERY_UUID,
  endpointId: "01890a5d-ac97-7000-8000-000000000002",
  event: {
    id: EVENT_UUID,
    tenant: "t1",
    type: "order.paid",
    apiVersion: "2025-01-01",
    subject: null,
    sequence: null,
    payload: new TextEncoder().encode(DATA),
    createdAt: new Date("2025-06-01T10:00:00Z"),
  },
  attempts: 2,
  failures: 2,
  scheduleStartedMs: Date.parse("2025-06-01T10:00:00Z"),
  trigger: "retry",
  isOrdered: false,
  claimBatch: null,
};

function target(changed: Partial<WebhookTarget> = {}): WebhookTarget {
  return {
    tenant: "t1",
    url: "https://example.com/hooks",
    format: "envelope",
    formatContext: { source: "/tenants/t1", datarefBase: "" },
    signature: { schemes: ["t-v1", "standard-webhooks"], headerPrefix: "X-Webhook" },
    headers: {},
    secrets: [{ value: SECRET, expiresAt: null }],
    authorization: null,
    timeoutMs: 15_000,
    ...changed,
  };
}

function build(changed?: Partial<WebhookTarget>, now = NOW) {
  return buildRequest(delivery, target(changed), { startedAt: now }, "Posthorn/0.1");
}

test("by default a request carries the X-Webhook and the Standard Webhooks headers", () => {
  const { headers, url, timeoutMs } = build();
  expect({ url, timeoutMs }).toEqual({ url: "https://example.com/hooks", timeoutMs: 15_000 });
  expect(headers).toEqual({
    "content-type": "application/json",
    "user-agent": "Posthorn/0.1",
    "X-Webhook-Id": `evt_${EVENT_UUID}`,
    "X-Webhook-Timestamp": SECONDS,
    "X-Webhook-Event": "order.paid",
    "X-Webhook-Delivery-Id": `dlv_${DELIVERY_UUID}`,
    "X-Webhook-Attempt": "3",
    "X-Webhook-Signature": expect.stringMatching(new RegExp(`^t=${SECONDS},v1=[0-9a-f]{64}$`)),
    "webhook-id": `evt_${EVENT_UUID}`,
    "webhook-timestamp": SECONDS,
    "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  });
});

test("a label of its own and another algorithm are signed by the engine as by the receiver kit", async () => {
  for (const scheme of ["sha512", "sha256:sha256_v2", "sha512:v3", "two-headers:v1"]) {
    const { headers, body } = build({ signature: { schemes: [scheme], headerPrefix: "X-Acme" } });
    const label = scheme.split(":").at(-1);
    expect(headers["X-Acme-Signature"]).toMatch(new RegExp(`^${label}=[0-9a-f]+$`));
    const request = { headers, body: new Uint8Array(body), secrets: [SECRET], headerPrefix: "X-Acme" };
    expect(await verify({ ...request, scheme })).toMatchObject({ ok: true });
    expect(await examine(request)).toMatchObject([{ scheme, ok: true }]);
  }
});

test("names of envelope fields are part of the signed body", () => {
  const formatContext = { source: "/", datarefBase: "", envelopeFields: { tenant_id: "team_id" } };
  const { headers, body } = build({ formatContext });
  expect(String(Buffer.from(body))).toContain('"team_id":"t1"');
  expect(String(Buffer.from(body))).not.toContain("tenant_id");
  expect(new Webhook(SECRET).verify(Buffer.from(body), headers)).toMatchObject({ team_id: "t1" });
});

test("Stripe's SDK and the Standard Webhooks library accept the default request unchanged", () => {
  const { headers, body } = build();
  const text = Buffer.from(body).toString();
  expect(text).toContain(`"data":${DATA}}`);
  const signature = headers["X-Webhook-Signature"] as string;
  expect(Stripe.webhooks.constructEvent(text, signature, SECRET).id).toBe(`evt_${EVENT_UUID}`);
  expect(new Webhook(SECRET).verify(text, headers)).toMatchObject({ id: `evt_${EVENT_UUID}` });
});

test("X-OrientedOS headers with sha256 need only settings", () => {
  const { headers, body } = build({ signature: { schemes: ["sha256"], headerPrefix: "X-OrientedOS" } });
  const hex = createHmac("sha256", SECRET).update(body).digest("hex");
  expect(headers).toMatchObject({
    "X-OrientedOS-Signature": `sha256=${hex}`,
    "X-OrientedOS-Event": "order.paid",
    "X-OrientedOS-Delivery-Id": `dlv_${DELIVERY_UUID}`,
  });
  expect(Object.keys(headers).filter((name) => /webhook/i.test(name))).toEqual([]);
});

test("every valid secret signs, and one that expires at this instant does not", () => {
  const [older, retired] = [generateSecret(), generateSecret()];
  const secrets = [
    { value: SECRET, expiresAt: null },
    { value: older, expiresAt: new Date(NOW.getTime() + 1) },
    { value: retired, expiresAt: NOW },
  ];
  const { headers, body } = build({ secrets });
  const text = Buffer.from(body).toString();
  for (const secret of [SECRET, older]) expect(() => new Webhook(secret).verify(text, headers)).not.toThrow();
  expect(() => new Webhook(retired).verify(text, headers)).toThrow();
  expect(headers["X-Webhook-Signature"]?.match(/v1=/g)).toHaveLength(2);
});

test("in a header with one signature, the secret that expires first signs until it has expired", () => {
  const older = generateSecret();
  const expiresAt = new Date(NOW.getTime() + 1_000);
  const changed = {
    secrets: [
      { value: SECRET, expiresAt: null },
      { value: older, expiresAt },
    ],
    signature: { schemes: ["sha256"], headerPrefix: "X-Webhook" },
  };
  const digest = (secret: string) =>
    `sha256=${createHmac("sha256", secret).update(build(changed).body).digest("hex")}`;
  expect(build(changed).headers).toMatchObject({
    "X-Webhook-Signature": digest(older),
    "X-Webhook-Signature-Next": digest(SECRET),
  });
  const later = build(changed, expiresAt).headers;
  expect(later["X-Webhook-Signature"]).toBe(digest(SECRET));
  expect(later).not.toHaveProperty("X-Webhook-Signature-Next");
});

test("custom headers are added and cannot replace Posthorn's, in any case", () => {
  const { headers } = build({
    headers: {
      authorization: "Bearer x",
      "USER-AGENT": "evil",
      "x-webhook-id": "evil",
      "Webhook-Signature": "evil",
      "Content-Type": "text/plain",
    },
  });
  expect(headers).toMatchObject({ authorization: "Bearer x", "user-agent": "Posthorn/0.1" });
  expect(Object.values(headers)).not.toContain("evil");
  expect(Object.keys(headers)).toHaveLength(12);
});

test("a request has the attempt's trace context, which custom headers cannot replace", () => {
  const traceparent = "00-11111111111111111111111111111111-2222222222222222-01";
  const own = target({ headers: { Traceparent: "00-mine", traceparent: "00-mine" } });
  const traced = buildRequest(delivery, own, { startedAt: NOW, traceparent }, "Posthorn/0.1");
  expect(traced.headers).toMatchObject({ traceparent });
  const untraced = buildRequest(delivery, own, { startedAt: NOW }, "Posthorn/0.1");
  expect(Object.keys(untraced.headers).map((name) => name.toLowerCase())).not.toContain("traceparent");
});
