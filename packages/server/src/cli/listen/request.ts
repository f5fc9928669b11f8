// An event as a signed request for the machine of whoever listens: the bytes that an endpoint gets, signed with the
// listener's own secret, never with that of an endpoint.
import { createHmac } from "node:crypto";
import {
  dataBytes,
  type EventAttributes,
  envelope,
  eventData,
  formatId,
  headerNames,
  parseId,
  rawMembers,
  sign,
} from "@posthorn/wire";

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

export interface Manner {
  readonly secret: string;
  readonly schemes: readonly string[];
  readonly headerPrefix: string;
  readonly format: "envelope" | "data";
  readonly userAgent: string;
}

export interface LocalRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** `deliveryId` is that of a resent delivery; an event that is new has none here, and gets one of its own id. */
export async function requestFor(
  event: ListenedEvent,
  manner: Manner,
  {
    deliveryId,
    attempt,
    now,
  }: { readonly deliveryId: string | null; readonly attempt: number; readonly now: Date },
): Promise<LocalRequest> {
  const uuid = parseId("evt", event.id) ?? "";
  const isEnvelope = manner.format === "envelope";
  const body = isEnvelope ? envelope({ ...event, id: uuid }) : new Uint8Array(dataBytes(eventData(event)));
  const contentType = isEnvelope ? undefined : event.attributes?.datacontenttype;
  const names = headerNames(manner.headerPrefix);
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const { secret, schemes, headerPrefix } = manner;
  return {
    body,
    headers: {
      "content-type": contentType ?? "application/json",
      "user-agent": manner.userAgent,
      [names.id]: event.id,
      [names.timestamp]: timestamp,
      [names.event]: event.type,
      [names.deliveryId]: deliveryId ?? formatId("dlv", uuid),
      [names.attempt]: String(attempt),
      ...(await sign({ id: event.id, timestamp, body, schemes, secrets: [secret], headerPrefix })),
    },
  };
}

/** The same for the same key, on any machine, so that it can be printed beforehand; it does not tell the key. */
export function listenerSecret(key: string): string {
  return `whsec_${createHmac("sha256", key).update("posthorn listen").digest("base64")}`;
}
