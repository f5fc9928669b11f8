// CloudEvents 1.0.2 over HTTP: structured, binary and batch. Strict, since a lenient reader and a strict one may see two
// different events in the same bytes.
import { headersWith, readHeader } from "./headers.ts";
import { asObject, readJson } from "./json.ts";
import type { Authentic } from "./model.ts";
import type { Parsed, ParsedEvent } from "./source.ts";

/** Of binary mode: the content type of the data, and the attributes. */
export const BINARY_HEADERS: readonly string[] = ["content-type", "ce-*"];

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";

/**
 * Structured, or a batch; null when the body is neither. The body decides, since it is signed and the content type is not:
 * that can only have a request refused. Where the signature covers an id, it is the event's, and the beginning of a member's.
 */
export function parseCloudEvents({ signedId, headers, body }: Authentic): Parsed | null {
  const mediaType = mediaTypeOf(readHeader(headers, "content-type"));
  const isAnnounced = mediaType.startsWith("application/cloudevents");
  if (isAnnounced && mediaType !== STRUCTURED && mediaType !== BATCH) return unknownFormat(mediaType);
  const json = readJson(body);
  if (!json.ok) return malformed(json.reason);
  const { value } = json;
  if (Array.isArray(value) && value.length > 0 && value.every(isCloudEvent)) {
    return mediaType === STRUCTURED
      ? malformed("A CloudEvent is a JSON object.")
      : batch(value, body, signedId);
  }
  if (mediaType === BATCH) return batch(value, body, signedId);
  return isAnnounced || isCloudEvent(value) ? events([withSignedId(readEvent(value), signedId)]) : null;
}

/** By its content alone: what has these four is one, whatever else is wrong with it. */
function isCloudEvent(value: unknown): boolean {
  const object = asObject(value);
  return object !== null && REQUIRED.every((name) => typeof object[name] === "string");
}

/** Attributes in headers, which no signature covers: only the id and the data are proven. */
export function parseBinaryCloudEvent({ signedId, headers, body }: Authentic): Parsed {
  return binary(headersWith(headers, "ce-"), readHeader(headers, "content-type"), body, signedId);
}

function withSignedId(event: ParsedEvent | string, signedId: string | null): ParsedEvent | string {
  return typeof event === "string" || signedId === null ? event : { ...event, id: signedId };
}

function batch(value: unknown, body: Uint8Array<ArrayBuffer>, signedId: string | null): Parsed {
  if (!Array.isArray(value)) return malformed("A batch is a JSON array.");
  const texts = membersOf(new TextDecoder().decode(body));
  const read = value.map((member, at) => {
    const event = readEvent(member);
    if (typeof event === "string") return `Member ${at} of the batch: ${event}`;
    const alone = { headers: {}, body: new TextEncoder().encode(texts[at]) };
    return { ...event, id: signedId === null ? event.id : `${signedId} ${event.id}`, alone };
  });
  return events(read);
}

function binary(
  headers: ReadonlyMap<string, string>,
  contentType: string | null,
  body: Uint8Array<ArrayBuffer>,
  signedId: string | null,
): Parsed {
  const attributes: Record<string, unknown> = {};
  for (const [header, value] of headers) {
    const name = header.slice("ce-".length);
    const decoded = decodeHeader(value);
    if (decoded === null) return malformed(`The header ${header} is not well-formed percent-encoded UTF-8.`);
    attributes[name] = decoded;
  }
  if ("datacontenttype" in attributes) {
    return malformed(
      "In binary mode Content-Type is the content type of the data; ce-datacontenttype is not allowed.",
    );
  }
  if ("data" in attributes) return malformed('An attribute cannot be called "data".');
  if (contentType !== null) attributes.datacontenttype = contentType;
  const data = binaryData(contentType, body);
  if (!data.ok) return malformed(data.reason);
  return events([withSignedId(readEvent({ ...attributes, data: data.value }), signedId)]);
}

function binaryData(contentType: string | null, body: Uint8Array<ArrayBuffer>) {
  const mediaType = mediaTypeOf(contentType);
  if (body.length === 0) return { ok: true, value: undefined } as const;
  if (isJson(mediaType)) return readJson(body);
  if (!mediaType.startsWith("text/")) return { ok: true, value: body } as const;
  try {
    return { ok: true, value: new TextDecoder("utf-8", { fatal: true }).decode(body) } as const;
  } catch {
    return { ok: false, reason: "The body is not UTF-8." } as const;
  }
}

/** The event, or what is wrong with it as a sentence. */
function readEvent(payload: unknown): ParsedEvent | string {
  const object = asObject(payload);
  if (object === null) return "A CloudEvent is a JSON object.";
  const { data, data_base64: base64, ...rest } = object;
  const attributes = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  const problem = attributesProblem(attributes);
  if (problem !== null) return problem;
  if (base64 !== undefined && base64 !== null) {
    if (data !== undefined && data !== null) return "It has both data and data_base64.";
    const bytes = typeof base64 === "string" ? decodeBase64(base64) : null;
    if (bytes === null) return "data_base64 is not base64.";
    return eventFrom(attributes, bytes, payload);
  }
  return eventFrom(attributes, data, payload);
}

function eventFrom(
  attributes: Readonly<Record<string, unknown>>,
  data: unknown,
  payload: unknown,
): ParsedEvent {
  const { id, source, type, subject = null, time, sequence } = attributes as Record<string, string>;
  return {
    // source and id name an event together; a source has no spaces
    id: `${source} ${id}`,
    type: type as string,
    subject,
    ...(isCounting(attributes)
      ? { sequence: Number(sequence), countedWithin: `${source} ${subject}` }
      : { sequence: null }),
    createdAt: time === undefined ? null : new Date(instantOf(time)),
    data,
    payload,
  };
}

const REQUIRED = ["id", "source", "type", "specversion"];
const NAME = /^[a-z0-9]+$/;
const URI_REFERENCE = /^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/;
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:./;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
// CloudEvents §"Type System", String: no control characters, no noncharacters, no lone surrogates
const FORBIDDEN = /\p{Cc}|\p{Noncharacter_Code_Point}|\p{Surrogate}/u;

function attributesProblem(attributes: Readonly<Record<string, unknown>>): string | null {
  for (const name of REQUIRED) {
    if (typeof attributes[name] !== "string" || attributes[name] === "") return `It has no ${name}.`;
  }
  const { source, specversion, subject, time, dataschema, datacontenttype } = attributes;
  if (specversion !== "1.0") return "Its specversion is not 1.0.";
  for (const [name, value] of Object.entries(attributes)) {
    if (!NAME.test(name)) return `"${name.slice(0, 60)}" is no name of an attribute: a-z and 0-9 only.`;
    if (!isScalar(value)) return `The attribute ${name} is not a string, an integer of 32 bits or a boolean.`;
    if (typeof value === "string" && FORBIDDEN.test(value))
      return `The attribute ${name} has a forbidden character.`;
  }
  if (!URI_REFERENCE.test(source as string)) return "Its source is no URI reference.";
  if (subject !== undefined && (typeof subject !== "string" || subject === ""))
    return "Its subject is empty.";
  if (isCounting(attributes) && !COUNT.test(String(attributes.sequence)))
    return "Its sequence is not a whole number from 0 on, of 15 digits at most.";
  if (time !== undefined && !isTime(time)) return "Its time is not as RFC 3339 has it.";
  if (dataschema !== undefined && !(typeof dataschema === "string" && ABSOLUTE_URI.test(dataschema))) {
    return "Its dataschema is no absolute URI.";
  }
  if (datacontenttype !== undefined && !/^[^\s/;]+\/[^\s/;]+/.test(String(datacontenttype))) {
    return "Its datacontenttype is no media type.";
  }
  return null;
}

/** Without a type, a sequence that is no number is a text whose order only the sender knows. */
function isCounting({ subject, sequence, sequencetype }: Readonly<Record<string, unknown>>): boolean {
  if (subject === undefined || sequence === undefined) return false;
  return sequencetype === undefined ? !Number.isNaN(Number(sequence)) : sequencetype === "Integer";
}

const COUNT = /^\d{1,15}$/;

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
  return typeof value === "string" || typeof value === "boolean";
}

function isTime(time: unknown): boolean {
  return typeof time === "string" && RFC_3339.test(time) && isDay(time) && !Number.isNaN(instantOf(time));
}

/** A leap second is the one after it: `Date` knows none. */
function instantOf(time: string): number {
  const leaps = /:60(?=[.Zz+-])/.test(time) ? 1_000 : 0;
  return Date.parse(time.replace(/:60(?=[.Zz+-])/, ":59")) + leaps;
}

/** `Date` takes 30 February for 2 March. */
function isDay(time: string): boolean {
  const [year, month, day] = time.slice(0, 10).split("-").map(Number) as [number, number, number];
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** HTTP binding §3.1.3.2: unquote, then one round of percent-decoding; overlong UTF-8 does not decode. */
function decodeHeader(value: string): string | null {
  const unquoted = /^"(?:[^"\\]|\\.)*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
  try {
    return decodeURIComponent(unquoted);
  } catch {
    return null;
  }
}

/** The texts of a JSON array's members. It was parsed before, so only strings and brackets need to be told apart. */
function membersOf(text: string): string[] {
  const members: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "[" || character === "{") {
      depth += 1;
      if (depth === 1) begin = at + 1;
    } else if (character === "]" || character === "}") depth -= 1;
    const isEnd = (depth === 1 && character === ",") || depth === 0;
    if (!isEnd || begin === 0) continue;
    const member = text.slice(begin, at).trim();
    if (member !== "") members.push(member);
    begin = depth === 0 ? 0 : at + 1;
  }
  return members;
}

function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function decodeBase64(text: string): Uint8Array | null {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return null;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function mediaTypeOf(contentType: string | null): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function isJson(mediaType: string): boolean {
  return mediaType.endsWith("/json") || mediaType.endsWith("+json");
}

function events(read: readonly (ParsedEvent | string)[]): Parsed {
  const problem = read.find((event) => typeof event === "string");
  return problem === undefined ? { kind: "events", events: read as ParsedEvent[] } : malformed(problem);
}

function unknownFormat(mediaType: string): Parsed {
  return malformed(
    `Of CloudEvents only ${STRUCTURED} and ${BATCH} are understood, not ${mediaType.slice(0, 60)}.`,
  );
}

function malformed(reason: string): Parsed {
  return { kind: "malformed", reason };
}
