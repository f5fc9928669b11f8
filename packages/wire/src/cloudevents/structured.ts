// Structured mode: the event is one JSON object. Its data is copied as bytes: parsing and serialising it
// would lose 1.0, large integers and the order of members.
import { concat, decode, encode } from "../encoding.ts";
import { isObject } from "../json/is-object.ts";
import { escapePointer } from "../json/pointer.ts";
import { type RawMembers, rawMembers } from "../json/raw-members.ts";
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
  malformed,
} from "./cloud-event.ts";
import { isJsonType } from "./content-type.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Deterministic: the same event has the same bytes. */
export function encodeStructured(event: CloudEvent): Uint8Array<ArrayBuffer> {
  const { data, extensions } = event;
  let head = '{"specversion":"1.0"';
  for (const name of CORE_ATTRIBUTES) {
    if (event[name] !== undefined) head += `,"${name}":${JSON.stringify(event[name])}`;
  }
  for (const name of Object.keys(extensions)) head += `,"${name}":${JSON.stringify(extensions[name])}`;
  switch (data.kind) {
    case "none":
      return encoder.encode(`${head}}`);
    case "text":
      return encoder.encode(`${head},"data":${JSON.stringify(data.text)}}`);
    case "binary":
      return encoder.encode(`${head},"data_base64":"${encode("base64", data.bytes)}"}`);
    case "json":
      return concat([`${head},"data":`, data.json, "}"]);
  }
}

export function decodeStructured(body: Uint8Array): Decoded<CloudEvent> {
  const json = readJson(body);
  if (!json.ok) return malformed("", json.reason);
  const document = rawMembers(body, ANY_SIZE);
  return decodeMember(body, json.value, document.kind === "object" ? document.members : [], "");
}

/** The caller limits the size. */
export const ANY_SIZE = { depth: Number.POSITIVE_INFINITY, members: Number.POSITIVE_INFINITY };

/** Parses an event in a JSON body; `place` is its JSON pointer. */
export function decodeMember(
  body: Uint8Array,
  parsed: unknown,
  members: RawMembers,
  place: string,
): Decoded<CloudEvent> {
  if (!isObject(parsed)) return malformed(place, "A CloudEvent must be a JSON object.");
  if (Object.keys(parsed).length !== members.length) return givenTwice(body, members, place);
  const { data: _, data_base64: base64, ...rest } = parsed;
  // null means absent
  const attributes = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)) as Record<
    string,
    AttributeValue
  >;
  const problems: CloudEventProblem[] = attributeProblems(attributes).map(({ name, message }) => ({
    place: `${place}/${escapePointer(name)}`,
    message,
  }));
  const data = isGiven(base64)
    ? readBase64(parsed, base64)
    : readData(body, members, parsed, attributes.datacontenttype);
  if (typeof data === "string") {
    problems.push({ place: `${place}/${isGiven(base64) ? "data_base64" : "data"}`, message: data });
  }
  return problems.length > 0 || typeof data === "string"
    ? { ok: false, problems }
    : { ok: true, value: cloudEventOf(attributes, data) };
}

function givenTwice(body: Uint8Array, members: RawMembers, place: string): Decoded<never> {
  const seen = new Set<string>();
  const isAgain = (name: string): boolean => seen.size === seen.add(name).size;
  const name = members.map((member) => nameOf(body, member)).find(isAgain) ?? "";
  return malformed(`${place}/${escapePointer(name)}`, `${JSON.stringify(name)} is given twice.`);
}

function nameOf(body: Uint8Array, { nameStart, nameEnd }: RawMembers[number]): string {
  return JSON.parse(decoder.decode(body.subarray(nameStart, nameEnd)));
}

function readBase64({ data }: Readonly<Record<string, unknown>>, base64: unknown): CloudEventData | string {
  if (isGiven(data)) return "It has both data and data_base64.";
  const bytes = typeof base64 === "string" ? decode("base64", base64) : null;
  return bytes === null ? "data_base64 is not base64." : { kind: "binary", bytes };
}

/** A string with a content type other than JSON is text; everything else is JSON. */
function readData(
  body: Uint8Array,
  members: RawMembers,
  { data }: Readonly<Record<string, unknown>>,
  contentType: unknown,
): CloudEventData {
  if (data === undefined) return { kind: "none" };
  if (typeof data === "string" && typeof contentType === "string" && !isJsonType(contentType))
    return { kind: "text", text: data };
  const isData = (member: RawMembers[number]) => nameOf(body, member) === "data";
  const { start, end } = members.find(isData) as RawMembers[number];
  return { kind: "json", json: body.subarray(start, end), value: data };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
