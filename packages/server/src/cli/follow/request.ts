// Builds the signed request that `posthorn listen` forwards: like a delivery, in any format and signature scheme, but
// signed with the listener's own secret and never with that of an endpoint.
import { createHmac } from "node:crypto";
import { type EventAttributes, parseId, rawMembers } from "@posthorn/wire";
import { buildRequest, type PayloadFormat, type WebhookTarget } from "posthorn/internal";

export interface ListenedEvent {
  readonly id: string;
  readonly type: string;
  readonly tenant: string;
  readonly apiVersion: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  readonly createdAt: Date;
  /** The JSON of `data`, byte for byte as it was published. */
  readonly payload: Uint8Array;
  /** Attributes of an event that was published as a CloudEvent. */
  readonly attributes: EventAttributes | undefined;
}

/** Reads the response of `GET /api/v1/events/{event}` and keeps the bytes of `data`, because parsing would change 1.0 and large integers. */
export function readEvent(text: string): ListenedEvent {
  const bytes = Buffer.from(text);
  const parsed = JSON.parse(text) as Record<string, unknown>;
  const document = rawMembers(bytes);
  const place =
    document.kind === "object" ? document.members[Object.keys(parsed).indexOf("data")] : undefined;
  if (place === undefined) throw new SyntaxError("The response has no data.");
  return {
    id: String(parsed.id),
    type: String(parsed.type),
    tenant: String(parsed.tenant),
    apiVersion: String(parsed.api_version),
    subject: parsed.subject as string | null,
    sequence: parsed.sequence as number | null,
    createdAt: new Date(String(parsed.created_at)),
    payload: bytes.subarray(place.start, place.end),
    attributes: (parsed.attributes ?? undefined) as EventAttributes | undefined,
  };
}

export interface ForwardOptions {
  readonly secret: string;
  readonly schemes: readonly string[];
  readonly headerPrefix: string;
  readonly format: PayloadFormat;
  readonly userAgent: string;
  /** URL of the local program. */
  readonly url: string;
  /** URL of the server; used for the `source` of CloudEvents without one. */
  readonly serverUrl: string;
}

export interface LocalRequest {
  /** The URL of the options, with additions of some signature schemes. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** `deliveryId` is null for a new event; then the event id is used. */
export function requestFor(
  event: ListenedEvent,
  { secret, schemes, headerPrefix, format, userAgent, url, serverUrl }: ForwardOptions,
  {
    deliveryId,
    attempt,
    now,
  }: { readonly deliveryId: string | null; readonly attempt: number; readonly now: Date },
): LocalRequest {
  const uuid = parseId("evt", event.id) ?? "";
  const target: WebhookTarget = {
    tenant: event.tenant,
    url,
    format,
    formatContext: { source: `${serverUrl}/tenants/${event.tenant}`, datarefBase: serverUrl },
    signature: { schemes, headerPrefix },
    headers: {},
    secrets: [{ value: secret, expiresAt: null }],
    authorization: null,
    timeoutMs: 0,
  };
  const delivery = {
    id: parseId("dlv", deliveryId ?? "") ?? uuid,
    event: { ...event, id: uuid },
    attempts: attempt - 1,
  };
  return buildRequest(delivery, target, { startedAt: now }, userAgent);
}

/** Derived from the key, so that it is the same on every machine; it does not reveal the key. */
export function listenerSecret(key: string): string {
  return `whsec_${createHmac("sha256", key).update("posthorn listen").digest("base64")}`;
}
