// CloudEvents 1.0.2 over HTTP, as the wire package reads them: structured, binary and batch.
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
  mediaTypeOf,
  modeOf,
  REQUIRED_ATTRIBUTES,
  readJson,
  STRUCTURED_MEDIA_TYPE,
} from "@posthorn/wire";
import { headersWith, readHeader } from "../headers.ts";
import type { Authentic } from "../model.ts";
import type { Parsed, ParsedEvent } from "../source.ts";

/** Of binary mode: the content type of the data, and the attributes. */
export const BINARY_HEADERS: readonly string[] = ["content-type", "ce-*"];

/**
 * Structured, or a batch; null when the body is neither. The body decides, since it is signed and the content type is not:
 * that can only have a request refused. Where the signature covers an id, it is the event's, and the beginning of a member's.
 */
export function parseCloudEvents({ signedId, headers, body }: Authentic): Parsed | null {
  const contentType = readHeader(headers, "content-type");
  const unknown = formatProblem(contentType);
  if (unknown !== null) return malformed(unknown);
  const json = readJson(body);
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

/** By its content alone: what has these four is one, whatever else is wrong with it. */
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
      return { ...read, id, alone: { headers: {}, body: own } };
    }),
  );
}

/** Attributes in headers, which no signature covers: only the id and the data are proven. */
export function parseBinaryCloudEvent({ signedId, headers, body }: Authentic): Parsed {
  const attributes = headersWith(headers, BINARY_HEADER_PREFIX);
  const decoded = decodeBinary(attributes, readHeader(headers, "content-type"), body);
  if (!decoded.ok) return malformed(messageOf(decoded.problems));
  const { data, extensions, ...core } = decoded.value;
  const payload = { specversion: "1.0", ...core, ...extensions, data: valueFrom(data) };
  return events([eventFrom(decoded.value, payload, signedId)]);
}

/** Of a member of a batch with its place. */
function messageOf([first]: readonly CloudEventProblem[]): string {
  const { place = "", message = "" } = first ?? {};
  const member = /^\/(\d+)/.exec(place)?.[1];
  return member === undefined ? message : `Member ${member} of the batch: ${message}`;
}

/** The event, or what is wrong with it as a sentence. */
function eventFrom(event: CloudEvent, payload: unknown, signedId: string | null): ParsedEvent | string {
  const { id, source, type, subject = null, time, extensions, data } = event;
  const { sequence, sequencetype } = extensions;
  const isCounting = subject !== null && counts(sequence, sequencetype);
  if (isCounting && !COUNT.test(String(sequence)))
    return "Its sequence is not a whole number from 0 on, of 15 digits at most.";
  return {
    // source and id name an event together; a source has no spaces
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

/** Without a type, a sequence that is no number is a text whose order only the sender knows. */
function counts(sequence: unknown, sequencetype: unknown): boolean {
  if (sequence === undefined) return false;
  return sequencetype === undefined ? !Number.isNaN(Number(sequence)) : sequencetype === "Integer";
}

const COUNT = /^\d{1,15}$/;

/** As a handler gets it; bytes are its own, since it may write into them. */
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
