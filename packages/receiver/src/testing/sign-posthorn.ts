// Signs as Posthorn does: envelope, headers and signatures as for an endpoint with default settings.
import {
  DEFAULT_SCHEMES,
  didYouMean,
  type EnvelopeField,
  type EnvelopeNames,
  formatId,
  headerNames,
  parseSecret,
  type Scheme,
  type SchemeName,
  schemeNamed,
  sign,
  uuidv7,
} from "@posthorn/wire";
import {
  bytesOf,
  DEFAULT_URL,
  newId,
  rejectUnsignableId,
  type SignedWebhook,
  type WebhookOptions,
  webhookNames,
} from "./signed-webhook.ts";

const FORMATS = ["envelope", "data", "thin"] as const;

export interface PosthornWebhook extends WebhookOptions {
  readonly type: string;
  /** Any JSON value. Default `{}`. */
  readonly data?: unknown;
  readonly subject?: string;
  readonly sequence?: number;
  /** When the event was recorded. Default: the start of 2026, so that the same event always has the same bytes. */
  readonly createdAt?: Date;
  /** Default `test`. */
  readonly tenant?: string;
  /** Default `2026-01-01`. */
  readonly apiVersion?: string;
  /** The endpoint's format: the envelope, only its `data`, or no data at all. Default `envelope`. */
  readonly format?: (typeof FORMATS)[number];
  /** The endpoint's `envelope_fields`, such as `{ tenant_id: "team_id" }`. Default `{}`. */
  readonly envelopeFields?: EnvelopeNames;
  /** Exactly these bytes, or this text, instead of the body that `format` produces. */
  readonly body?: string | Uint8Array;
  /** Default 1. */
  readonly attempt?: number;
  /** Default: `t-v1` and `standard-webhooks`; for a `whsk_` key `standard-webhooks-v1a`. */
  readonly schemes?: readonly (SchemeName | Scheme)[];
  /** Default `X-Webhook`. */
  readonly headerPrefix?: string;
}

export const posthornWebhookNames = [
  ...webhookNames,
  "type",
  "data",
  "subject",
  "sequence",
  "createdAt",
  "tenant",
  "apiVersion",
  "format",
  "envelopeFields",
  "body",
  "attempt",
  "schemes",
  "headerPrefix",
] as const satisfies (keyof PosthornWebhook)[];

export async function signPosthorn(webhook: PosthornWebhook): Promise<SignedWebhook> {
  const { headerPrefix, id = newId(), url = DEFAULT_URL } = webhook;
  const secrets = [webhook.secret].flat();
  const timestamp = String(Math.floor((webhook.timestamp ?? new Date()).getTime() / 1000));
  const body = bytesOf(webhook.body ?? payloadOf(webhook, id));
  const schemes = schemesOf(webhook, secrets);
  rejectUnsignableId(id, schemes);
  const signatures = await sign({
    ...{ id, timestamp, body, method: "POST", url, schemes, secrets },
    ...(headerPrefix !== undefined && { headerPrefix }),
  });
  const names = headerNames(headerPrefix);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Posthorn",
    [names.id]: id,
    [names.timestamp]: timestamp,
    [names.event]: webhook.type,
    [names.deliveryId]: formatId("dlv", uuidv7()),
    [names.attempt]: String(webhook.attempt ?? 1),
    ...signatures,
    ...webhook.headers,
  };
  return { method: "POST", url, headers, body };
}

/** The members in the order in which Posthorn writes them; undefined ones are omitted. */
function payloadOf(webhook: PosthornWebhook, id: string): unknown {
  const { type, subject, sequence, data = {}, format = "envelope", envelopeFields = {} } = webhook;
  if (!FORMATS.includes(format))
    throw new TypeError(`There is no format "${format}". ${didYouMean(format, FORMATS)}`);
  if (format === "data") return JSON.stringify(data);
  if (format === "thin") return renamed({ id, type, subject }, envelopeFields);
  const fields = {
    id,
    type,
    api_version: webhook.apiVersion ?? "2026-01-01",
    created_at: (webhook.createdAt ?? new Date("2026-01-01T00:00:00Z")).toISOString(),
    tenant_id: webhook.tenant ?? "test",
    subject,
    sequence,
    data,
  };
  return renamed(fields, envelopeFields);
}

function renamed(fields: Partial<Record<EnvelopeField, unknown>>, names: EnvelopeNames): unknown {
  const entries = Object.entries(fields) as [EnvelopeField, unknown][];
  return Object.fromEntries(entries.map(([field, value]) => [names[field] ?? field, value]));
}

function schemesOf({ schemes }: PosthornWebhook, secrets: readonly string[]): Scheme[] {
  const isSigning = secrets.every((secret) => parseSecret(secret)?.kind === "signing");
  const fitting = isSigning ? ["standard-webhooks-v1a"] : DEFAULT_SCHEMES;
  return (schemes ?? fitting).map((scheme) => (typeof scheme === "string" ? schemeNamed(scheme) : scheme));
}
