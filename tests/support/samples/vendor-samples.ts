// A request of each vendor, signed by our description of it.
import * as presets from "@posthorn/receiver";
import { generateSigningKey, sign, type VendorName, vendors, writeTime } from "@posthorn/wire";

export interface VendorSample {
  readonly vendor: VendorName;
  /** Two signing secrets, and the keys that a receiver verifies with. */
  readonly signing: readonly [old: string, next: string];
  readonly verifying: readonly [old: string, next: string];
  /** The key of another receiver. */
  readonly stranger: string;
  readonly url: string;
  readonly body: (now: Date) => string;
  /** Beside those of the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The expected event; an id of null is a digest. */
  readonly event: { readonly id: string | null; readonly type: string; readonly data: unknown };
}

export interface SignedSample {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export const vendorPresets: Pick<typeof presets, VendorName> = presets;

const SHARED = {
  signing: ["the old secret", "the new secret"],
  verifying: ["the old secret", "the new secret"],
  stranger: "another secret",
  url: "https://hooks.example.com/in?account=1",
  headers: {},
} as const;

const BASE64_SECRETS = [
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
] as const;
const keyPairs = await Promise.all([generateSigningKey(), generateSigningKey(), generateSigningKey()]);
const [oldPublic, nextPublic, strangePublic] = keyPairs.map(({ publicKey }) =>
  Buffer.from(publicKey.slice("whpk_".length), "base64").toString("hex"),
) as [string, string, string];

type Sample = Partial<Omit<VendorSample, "body">> &
  Pick<VendorSample, "event"> & { readonly body: string | VendorSample["body"] };

const samples: Readonly<Record<VendorName, Sample>> = {
  stripe: {
    body: '{"id":"evt_1","object":"event","type":"invoice.paid","created":1700000000,"data":{"object":{"é":1}}}',
    event: { id: "evt_1", type: "invoice.paid", data: { object: { é: 1 } } },
  },
  mux: {
    body: '{"id":"m1","type":"video.asset.ready","created_at":"2023-11-14T22:13:20.000Z","data":{"a":1}}',
    event: { id: "m1", type: "video.asset.ready", data: { a: 1 } },
  },
  github: {
    headers: { "X-GitHub-Delivery": "72d3162e-cc78", "X-GitHub-Event": "push" },
    body: '{"ref":"refs/heads/main"}',
    event: { id: "72d3162e-cc78", type: "push", data: { ref: "refs/heads/main" } },
  },
  shopify: {
    headers: {
      "X-Shopify-Webhook-Id": "b54557e4",
      "X-Shopify-Topic": "orders/paid",
      "X-Shopify-Shop-Domain": "shop.example.com",
      "X-Shopify-API-Version": "2026-01",
      "X-Shopify-Triggered-At": "2023-11-14T22:13:20.123456789Z",
    },
    body: '{"id":1}',
    event: { id: "b54557e4", type: "orders/paid", data: { id: 1 } },
  },
  slack: {
    body: '{"type":"event_callback","event_id":"Ev1","event_time":1700000000,"event":{"type":"app_mention","text":"é"}}',
    event: { id: "Ev1", type: "app_mention", data: { type: "app_mention", text: "é" } },
  },
  paddle: {
    body: '{"event_id":"evt_p","event_type":"transaction.paid","occurred_at":"2023-11-14T22:13:20.5Z","data":{"a":1}}',
    event: { id: "evt_p", type: "transaction.paid", data: { a: 1 } },
  },
  linear: {
    headers: { "Linear-Delivery": "234d1a4e", "Linear-Event": "Issue" },
    body: (now) => `{"action":"create","type":"Issue","data":{"a":1},"webhookTimestamp":${now.getTime()}}`,
    event: { id: "234d1a4e", type: "Issue", data: { a: 1 } },
  },
  square: {
    body: '{"event_id":"e1","type":"payment.updated","created_at":"2023-11-14T22:13:20Z","data":{"type":"payment"}}',
    event: { id: "e1", type: "payment.updated", data: { type: "payment" } },
  },
  discord: {
    signing: [keyPairs[0]?.signingKey as string, keyPairs[1]?.signingKey as string],
    verifying: [oldPublic, nextPublic],
    stranger: strangePublic,
    body: '{"version":1,"type":1,"event":{"type":"ENTITLEMENT_CREATE","timestamp":"2023-11-14T22:13:20","data":{"a":1}}}',
    event: { id: null, type: "ENTITLEMENT_CREATE", data: { a: 1 } },
  },
  hubspot: {
    body: '[{"eventId":7,"subscriptionId":12,"portalId":62,"occurredAt":1700000000123,"subscriptionType":"contact.creation","attemptNumber":0}]',
    event: {
      id: "62-12-7-1700000000123",
      type: "contact.creation",
      data: {
        eventId: 7,
        subscriptionId: 12,
        portalId: 62,
        occurredAt: 1_700_000_000_123,
        subscriptionType: "contact.creation",
        attemptNumber: 0,
      },
    },
  },
  svix: {
    signing: BASE64_SECRETS,
    verifying: BASE64_SECRETS,
    stranger: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    body: '{"type":"user.created","timestamp":"2023-11-14T22:13:20Z","data":{"a":1}}',
    event: { id: "msg_1", type: "user.created", data: { a: 1 } },
  },
  twilio: {
    body: "MessageSid=SM1&MessageStatus=delivered&Body=a%2Bb+%C3%A9&To=%2B14158675309",
    event: {
      id: null,
      type: "delivered",
      data: { MessageSid: "SM1", MessageStatus: "delivered", Body: "a+b é", To: "+14158675309" },
    },
  },
  twitch: {
    body: '{"subscription":{"type":"channel.follow"},"event":{"a":1}}',
    event: { id: "msg_1", type: "channel.follow", data: { a: 1 } },
  },
  zoom: {
    body: '{"event":"meeting.started","event_ts":1700000000123,"payload":{"object":{"topic":"é"}}}',
    event: { id: null, type: "meeting.started", data: { object: { topic: "é" } } },
  },
  gitlab: {
    headers: {
      "X-Gitlab-Event": "Push Hook",
      "X-Gitlab-Event-UUID": "13792a34-cac6",
      "Idempotency-Key": "f5e57b5b-2b6e",
    },
    body: '{"object_kind":"push","ref":"refs/heads/main"}',
    event: { id: "f5e57b5b-2b6e", type: "push", data: { object_kind: "push", ref: "refs/heads/main" } },
  },
};

export const vendorSamples: readonly VendorSample[] = Object.entries(samples).map(([vendor, sample]) => ({
  ...SHARED,
  ...sample,
  vendor: vendor as VendorName,
  body: (now) => (typeof sample.body === "string" ? sample.body : sample.body(now)),
}));

/** The request as the vendor would send it, by default signed with the old secret only. */
export async function signedSample(
  sample: VendorSample,
  now: Date,
  changed: {
    readonly body?: Uint8Array<ArrayBuffer>;
    readonly url?: string;
    readonly secrets?: readonly string[];
  } = {},
): Promise<SignedSample> {
  const { scheme } = vendors[sample.vendor];
  const message = {
    method: "POST" as const,
    url: changed.url ?? sample.url,
    body: changed.body ?? new TextEncoder().encode(sample.body(now)),
  };
  const headers = await sign({
    ...message,
    id: "msg_1",
    timestamp: writeTime(now, scheme.timeFormat ?? "seconds"),
    schemes: [scheme],
    secrets: changed.secrets ?? [sample.signing[0]],
  });
  return { ...message, headers: { ...sample.headers, ...headers } };
}
