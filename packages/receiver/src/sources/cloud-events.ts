// Parses CloudEvents 1.0.2 over HTTP: structured, binary and batch.
import {
  BATCH_MEDIA_TYPE,
  BINARY_HEADER_PREFIX,
  type CloudEvent,
  type CloudEventData,
  type CloudEventProblem,
  decodeBatch,
  decodeBinary,
  decodeStructured,
  formatProblem,
  instantOf,
  isObject,
  type Json,
  mediaTypeOf,
  modeOf,
  REQUIRED_ATTRIBUTES,
  readJson,
  STRUCTURED_MEDIA_TYPE,
} from "@posthorn/wire";
import { headersWith, readHeader } from "../headers.ts";
import type { VerifiedRequest } from "../model.ts";
import type { Parsed, ParsedEvent } from "../source.ts";

/** The headers of binary mode: the content type of the data, and the attributes. */
export const BINARY_HEADERS: readonly string[] = ["content-type", "ce-*"];

/**
 * Parses a structured event or a batch; null if the body is neither. The body decides, because the content type is not signed and
 * can only cause a rejection. If the signature covers an id, it is the event's id, and the prefix of the ids of a batch.
 */
export function parseCloudEvents(
  { signedId, headers, body }: VerifiedRequest,
  json: Json = readJson(body),
): Parsed | null {
  const contentType = readHeader(headers, "content-type");
  const unknown = formatProblem(contentType);
  if (unknown !== null) return malformed(unknown);
  if (!json.ok) return malformed(json.reason);
  const { value } = json;
  const mediaType = mediaTypeOf(contentType);
  const isBatch = Array.isArray(value) && value.length > 0 && value.every(isCloudEvent);
  if (mediaType === BATCH_MEDIA_TYPE || (isBatch && mediaType !== STRUCTURED_MEDIA_TYPE)) {
    return parseBatch(body, value, signedId);
  }
  if (modeOf(contentType) === "binary" && !isCloudEvent(value)) return null;
  const decoded = decodeStructured(body);
  if (!decoded.ok) return malformed(messageOf(decoded.problems));
  return events([eventFrom(decoded.value, value, signedId)]);
}

/** Decides by the content only: an object with these four attributes is a CloudEvent, even if it is otherwise invalid. */
function isCloudEvent(value: unknown): boolean {
  return isObject(value) && REQUIRED_ATTRIBUTES.every((name) => typeof value[name] === "string");
}

function parseBatch(body: Uint8Array, value: unknown, signedId: string | null): Parsed {
  const decoded = decodeBatch(body);
  if (!decoded.ok) return malformed(messageOf(decoded.problems));
  return events(
    decoded.value.map(({ event, body: own }, at) => {
      const read = eventFrom(event, (value as readonly unknown[])[at], null);
      if (typeof read === "string") return `Member ${at} of the batch: ${read}`;
      const id = signedId === null ? read.id : `${signedId} ${read.id}`;
      return { ...read, id, standalone: { headers: {}, body: own } };
    }),
  );
}

/** The attributes are in headers, which no signature covers: only the id and the data are authenticated. */
export function parseBinaryCloudEvent({ signedId, headers, body }: VerifiedRequest): Parsed {
  const attributes = headersWith(headers, BINARY_HEADER_PREFIX);
  const decoded = decodeBinary(attributes, readHeader(headers, "content-type"), body);
  if (!decoded.ok) return malformed(messageOf(decoded.problems));
  const { data, extensions, ...core } = decoded.value;
  const payload = { specversion: "1.0", ...core, ...extensions, data: valueFrom(data) };
  return events([eventFrom(decoded.value, payload, signedId)]);
}

/** The first problem, with its position in a batch. */
function messageOf([first]: readonly CloudEventProblem[]): string {
  const { place = "", message = "" } = first ?? {};
  const member = /^\/(\d+)/.exec(place)?.[1];
  return member === undefined ? message : `Member ${member} of the batch: ${message}`;
}

/** The event, or its problem as a sentence. */
function eventFrom(event: CloudEvent, payload: unknown, signedId: string | null): ParsedEvent | string {
  const { id, source, type, subject = null, time, extensions, data } = event;
  const { sequence, sequencetype } = extensions;
  const isCounting = subject !== null && counts(sequence, sequencetype);
  if (isCounting && !COUNT.test(String(sequence)))
    return "Its sequence is not a non-negative integer of at most 15 digits.";
  return {
    // Source and id together identify an event; a source contains no spaces.
    id: signedId ?? `${source} ${id}`,
    type,
    subject,
    ...(isCounting
      ? { sequence: Number(sequence), sequenceScope: `${source} ${subject}` }
      : { sequence: null }),
    createdAt: time === undefined ? null : new Date(instantOf(time)),
    data: valueFrom(data),
    payload,
  };
}

/** Without `sequencetype`, a sequence that is not a number has an order that only the sender knows. */
function counts(sequence: unknown, sequencetype: unknown): boolean {
  if (sequence === undefined) return false;
  return sequencetype === undefined ? !Number.isNaN(Number(sequence)) : sequencetype === "Integer";
}

const COUNT = /^\d{1,15}$/;

/** The value for the handler. Bytes are copied, because a handler may modify them. */
export function valueFrom(data: CloudEventData): unknown {
  switch (data.kind) {
    case "none":
      return undefined;
    case "json":
      return data.value;
    case "text":
      return data.text;
    case "binary":
      return data.bytes.slice();
  }
}

function events(read: readonly (ParsedEvent | string)[]): Parsed {
  const problem = read.find((event) => typeof event === "string");
  return problem === undefined ? { kind: "events", events: read as ParsedEvent[] } : malformed(problem);
}

function malformed(reason: string): Parsed {
  return { kind: "malformed", reason };
}
