// Binary mode: attributes in ce-* headers, the data as the body, its content type in Content-Type.
import { readJson } from "../json/read-json.ts";
import { attributeProblems } from "./attributes.ts";
import {
  type AttributeValue,
  type CloudEvent,
  type CloudEventData,
  type CloudEventProblem,
  CORE_ATTRIBUTES,
  cloudEventOf,
  type Decoded,
} from "./cloud-event.ts";
import { isJsonType, isTextType } from "./content-type.ts";

export const BINARY_HEADER_PREFIX = "ce-";

const encoder = new TextEncoder();
const NOTHING = new Uint8Array(0);

export interface BinaryMessage {
  /** Names in lower case. `content-type` is missing if the event has no datacontenttype and its data is not JSON. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function encodeBinary(event: CloudEvent): BinaryMessage {
  const headers: Record<string, string> = { "ce-specversion": "1.0" };
  for (const name of CORE_ATTRIBUTES) {
    const value = event[name];
    if (name !== "datacontenttype" && value !== undefined) headers[`ce-${name}`] = encodeHeader(value);
  }
  for (const [name, value] of Object.entries(event.extensions)) headers[`ce-${name}`] = encodeHeader(value);
  const contentType = event.datacontenttype ?? (event.data.kind === "json" ? "application/json" : undefined);
  if (contentType !== undefined) headers["content-type"] = contentType;
  return { headers, body: dataBytes(event.data) };
}

/** The event's data as bytes. */
export function dataBytes(data: CloudEventData): Uint8Array {
  switch (data.kind) {
    case "none":
      return NOTHING;
    case "json":
      return data.json;
    case "text":
      return encoder.encode(data.text);
    case "binary":
      return data.bytes;
  }
}

/** HTTP binding §3.1.3.2: encodes space, quote, percent and everything but visible ASCII as UTF-8. */
export function encodeHeader(value: AttributeValue): string {
  return String(value).replace(/[^\x21\x23\x24\x26-\x7e]+/gu, (text) =>
    Array.from(encoder.encode(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
      "",
    ),
  );
}

/** `headers` are those that begin with `ce-`, with lower-case names. */
export function decodeBinary(
  headers: ReadonlyMap<string, string>,
  contentType: string | null,
  body: Uint8Array,
): Decoded<CloudEvent> {
  const problems: CloudEventProblem[] = [];
  // A Map, because `__proto__` can be among the names before they are validated.
  const found = new Map<string, AttributeValue>();
  for (const [header, value] of headers) {
    const decoded = decodeHeader(value);
    if (decoded === null) {
      const message = `The header ${header} is not valid percent-encoded UTF-8 (% must be encoded as %25). If your library does not encode headers, use structured mode.`;
      problems.push({ place: header, message });
    } else if (header === "ce-datacontenttype") {
      const message =
        "In binary mode Content-Type is the content type of the data; ce-datacontenttype is not allowed.";
      problems.push({ place: header, message });
    } else found.set(header.slice(BINARY_HEADER_PREFIX.length), decoded);
  }
  if (contentType !== null) found.set("datacontenttype", contentType);
  const attributes = Object.fromEntries(found);
  // A header that could not be decoded is not missing.
  const isKnown = (place: string) => problems.some((problem) => problem.place === place);
  for (const { name, message } of attributeProblems(attributes)) {
    const place = name === "datacontenttype" ? "content-type" : `${BINARY_HEADER_PREFIX}${name}`;
    if (!isKnown(place)) problems.push({ place, message });
  }
  const data = readData(contentType, body);
  if (typeof data === "string") problems.push({ place: "", message: data });
  return problems.length > 0 || typeof data === "string"
    ? { ok: false, problems }
    : { ok: true, value: cloudEventOf(attributes, data) };
}

/**
 * Parses a body by its content type; returns a sentence if it is invalid. An empty body means no data, because binary mode cannot
 * distinguish it from an empty text. Without a content type JSON is tried, because the Python SDK sends JSON data without one.
 */
export function readData(contentType: string | null, body: Uint8Array): CloudEventData | string {
  if (body.length === 0) return { kind: "none" };
  if (isJsonType(contentType)) {
    const json = readJson(body);
    if (json.ok) return { kind: "json", json: body, value: json.value };
    if (contentType !== null) return json.reason;
  }
  if (!isTextType(contentType)) return { kind: "binary", bytes: body };
  try {
    return { kind: "text", text: utf8.decode(body) };
  } catch {
    return "The body is not UTF-8.";
  }
}

// A byte order mark is part of the data.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Unquotes, then percent-decodes once; overlong UTF-8 is rejected. */
function decodeHeader(value: string): string | null {
  const text = readUtf8(value);
  const unquoted = /^"(?:[^"\\]|\\.)*"$/.test(text) ? text.slice(1, -1).replace(/\\(.)/g, "$1") : text;
  try {
    return decodeURIComponent(unquoted);
  } catch {
    return null;
  }
}

/** Runtimes return one character per header byte. The Go SDK sends unencoded UTF-8. */
function readUtf8(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^ -\xff]/.test(value)) return value;
  try {
    return utf8.decode(Uint8Array.from(value, (byte) => byte.charCodeAt(0)));
  } catch {
    return value; // Latin-1, which the JavaScript SDK sends
  }
}
