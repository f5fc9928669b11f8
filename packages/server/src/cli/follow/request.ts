// An event as a signed request for the machine of whoever listens: made as for an endpoint, in any format and by any
// scheme, and signed with the listener's own secret, never with that of an endpoint.
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
  /** Of one that came in as a CloudEvent. */
  readonly attributes: EventAttributes | undefined;
}

/** The answer of `GET /api/v1/events/{event}`; parsing and writing again would change 1.0 and large integers. */
export function readEvent(text: string): ListenedEvent {
  const bytes = Buffer.from(text);
  const parsed = JSON.parse(text) as Record<string, unknown>;
  const document = rawMembers(bytes);
  const place =
    document.kind === "object" ? document.members[Object.keys(parsed).indexOf("data")] : undefined;
  if (place === undefined) throw new SyntaxError("The answer has no data.");
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
  /** Where the program is that listens. */
  readonly url: string;
  /** Where the events are from: the `source` of those that have none begins with it. */
  readonly serverUrl: string;
}

export interface LocalRequest {
  /** That of the options, or where a scheme asks for it with something added. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** `deliveryId` is that of a resent delivery; an event that is new has none here, and gets one of its own id. */
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

/** The same for the same key, on any machine, so that it can be printed beforehand; it does not tell the key. */
export function listenerSecret(key: string): string {
  return `whsec_${createHmac("sha256", key).update("posthorn listen").digest("base64")}`;
}
