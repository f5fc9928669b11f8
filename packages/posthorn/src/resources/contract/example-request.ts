// The request of an example event, built and signed by the code that builds and signs deliveries. The contract takes its
// headers from it, so that it lists what is sent.
import { headerNames, rawSecret, type SecretEncoding, schemeHeaders, schemeNames } from "@posthorn/wire";
import { wireHeaders } from "../../attempt/wire-headers.ts";
import { buildRequest, type WebhookTarget } from "../../destinations/webhook/build-request.ts";
import type { Event, PreparedRequest, TargetSecret } from "../../model.ts";

/** Known to everyone, therefore never used for an endpoint: bytes 1 to 32, and the key of RFC 8032 §7.1, test 1. */
const EXAMPLE_SECRET = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";
const EXAMPLE_SIGNING_KEY =
  "whsk_nWGxne/9WmC6hEr0kuwsxERJxXN7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg==";

export const EXAMPLE_URL = "https://example.com/webhooks";
const EXAMPLE_TIME = new Date("2026-01-31T12:00:00.000Z");

const event: Omit<Event, "apiVersion"> = {
  id: "019c13f2-7800-7000-8000-000000000001",
  tenant: "acme",
  type: "order.paid",
  subject: "order-17",
  sequence: 3,
  payload: Buffer.from('{"order":17,"amount":4200}'),
  createdAt: EXAMPLE_TIME,
};
export const EXAMPLE_EVENT_ID = `evt_${event.id}`;
const DELIVERY_ID = "019c13f2-7800-7000-8000-000000000002";
/** Its number is written as 2. */
const ATTEMPTS_BEFORE = 1;

/** `event_id` may be without `evt_`; see the example. `trace` is sent only if the event or the deployment is traced. */
export type HeaderMeaning =
  | "event_id"
  | "event_type"
  | "event_time"
  | "delivery_id"
  | "attempt"
  | "timestamp"
  | "signature"
  | "signature_input"
  | "body_digest"
  | "next_signature"
  | "content_type"
  | "user_agent"
  | "trace"
  | "authorization"
  | "handshake_origin"
  | "custom"
  | "fixed";

export interface ContractHeader {
  readonly name: string;
  readonly meaning: HeaderMeaning;
  /** Null for a value that only the endpoint's owner knows. */
  readonly example: string | null;
  /** False if some requests are without it: only during a rotation, or only if traced. */
  readonly isAlwaysSent: boolean;
}

export type ExampleTarget = Pick<
  WebhookTarget,
  "format" | "formatContext" | "signature" | "headers" | "timeoutMs"
> & {
  readonly authorization: WebhookTarget["authorization"];
  readonly handshakeOrigin: string | null;
  readonly secretEncoding: SecretEncoding;
  readonly userAgent: string;
  readonly apiVersion: string;
};

export interface ExampleRequest {
  readonly headers: readonly ContractHeader[];
  readonly contentType: string | null;
  readonly body: string;
}

/** The secret as the receiver has it, and as it is stored. Imported, its characters are the key. */
export function exampleSecret(encoding: SecretEncoding): { readonly text: string; readonly value: string } {
  if (encoding === "whsec") return { text: EXAMPLE_SECRET, value: EXAMPLE_SECRET };
  const key = Buffer.from(EXAMPLE_SECRET);
  return { text: key.toString(encoding === "text" ? "utf8" : encoding), value: rawSecret(key) };
}

export function exampleRequest(target: ExampleTarget): ExampleRequest {
  const secret = exampleSecret(target.secretEncoding).value;
  const { body, headers } = build(target, [secret, EXAMPLE_SIGNING_KEY]);
  // with a second secret of each kind there are the headers of a rotation too
  const rotated = build(target, [`${EXAMPLE_SECRET.slice(0, -2)}E=`, secret, EXAMPLE_SIGNING_KEY]).headers;
  const origin = target.handshakeOrigin;
  const all = wireHeaders({
    ...rotated,
    ...headers,
    ...(origin !== null && { "WebHook-Request-Origin": origin }),
  });
  return {
    headers: Object.entries(all).map(([name, value]) => {
      const meaning = meaningOf(name, value, target);
      return {
        name: canonical(name),
        meaning,
        example: meaning === "custom" || meaning === "authorization" ? null : value,
        isAlwaysSent: meaning !== "next_signature" && meaning !== "trace",
      };
    }),
    contentType: headers["content-type"] ?? null,
    body: Buffer.from(body).toString(),
  };
}

function build(target: ExampleTarget, secrets: readonly string[]): PreparedRequest {
  const { userAgent, apiVersion, handshakeOrigin: _, secretEncoding: __, ...webhook } = target;
  const expiresAt = new Date(EXAMPLE_TIME.getTime() + 1_000);
  const valid: TargetSecret[] = secrets.map((value, index) => ({
    value,
    expiresAt: index < secrets.length - 2 ? expiresAt : null,
  }));
  return buildRequest(
    { id: DELIVERY_ID, event: { ...event, apiVersion }, attempts: ATTEMPTS_BEFORE },
    { ...webhook, tenant: event.tenant, url: EXAMPLE_URL, secrets: valid },
    { startedAt: EXAMPLE_TIME, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    userAgent,
  );
}

const SIGNATURES = schemeHeaders(schemeNames);

function meaningOf(name: string, value: string, target: ExampleTarget): HeaderMeaning {
  const lower = name.toLowerCase();
  const { signature, signatureNext } = headerNames(target.signature.headerPrefix);
  const byName: Readonly<Record<string, HeaderMeaning>> = {
    "content-type": "content_type",
    "user-agent": "user_agent",
    "content-digest": "body_digest",
    "signature-input": "signature_input",
    traceparent: "trace",
    "webhook-request-origin": "handshake_origin",
    [signature.toLowerCase()]: "signature",
    [signatureNext.toLowerCase()]: "next_signature",
  };
  const known = byName[lower] ?? byValue.get(value);
  if (known !== undefined) return known;
  if (target.authorization !== null && value.includes(target.authorization.token)) return "authorization";
  if (Object.keys(target.headers).some((custom) => custom.toLowerCase() === lower)) return "custom";
  return SIGNATURES.has(lower) ? "signature" : "fixed";
}

const byValue = new Map<string, HeaderMeaning>([
  [EXAMPLE_EVENT_ID, "event_id"],
  [event.id, "event_id"],
  [event.type, "event_type"],
  [event.type.replaceAll(".", "/"), "event_type"],
  [`dlv_${DELIVERY_ID}`, "delivery_id"],
  [String(ATTEMPTS_BEFORE + 1), "attempt"],
  [String(ATTEMPTS_BEFORE), "attempt"],
  [String(EXAMPLE_TIME.getTime() / 1_000), "timestamp"],
  [String(EXAMPLE_TIME.getTime()), "timestamp"],
  [EXAMPLE_TIME.toISOString(), "timestamp"],
]);

/** HTTP does not distinguish the case of names; ours are in lower case. */
function canonical(name: string): string {
  return ["accept-encoding", "content-type", "user-agent"].includes(name)
    ? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
    : name;
}
