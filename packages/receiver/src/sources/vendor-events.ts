// Parses the events of a verified request according to a vendor's description.
import {
  type Path,
  rawItems,
  rawValueAt,
  readJson,
  readTimeMs,
  type Vendor,
  type VendorField,
} from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { VerifiedRequest, WebhookResponse } from "../model.ts";
import type { Parsed, ParsedEvent } from "../source.ts";

export function readVendorEvents(vendor: Vendor, verified: VerifiedRequest): Parsed {
  const body = readBody(verified.body);
  if ("reason" in body) return { kind: "malformed", reason: body.reason };

  const answer = responseToChallenge(vendor, verified, body);
  if (answer !== null) return { kind: "answer", answer };

  const members = vendor.isBatch && Array.isArray(body.value) ? itemsOf(body, body.value) : [body];
  const events: ParsedEvent[] = [];
  for (const member of members) {
    const event = readEvent(vendor, verified, member);
    if (typeof event === "string") return { kind: "malformed", reason: event };
    events.push(members.length === 1 ? event : { ...event, standalone: requestAlone(member) });
  }
  return { kind: "events", events };
}

/** The body, or an event of a batch. */
interface Payload {
  readonly value: unknown;
  /** As it is written; null for a form. */
  readonly json: Uint8Array<ArrayBuffer> | null;
}

function itemsOf({ json }: Payload, values: readonly unknown[]): Payload[] {
  const items = json && rawItems(json);
  return values.map((value, at) => ({ value, json: items?.[at] ?? null }));
}

/** Lower-case names of all headers that the description refers to. */
export function headersReadBy(vendor: Vendor): string[] {
  const fields = [
    ...vendor.id,
    ...vendor.type,
    ...vendor.time.map(({ at }) => at),
    ...(vendor.challenges ?? []).flatMap(({ when }) => when.map(({ at }) => at)),
  ];
  return [...new Set(fields.flatMap((field) => ("header" in field ? field.header.toLowerCase() : [])))];
}

/**
 * Parses JSON or a form. A form whose only parameter is `payload` stands for the JSON in it, as GitHub and Slack send it. The bytes
 * decide and not the content type, because that is not signed.
 */
function readBody(bytes: Uint8Array<ArrayBuffer>): Payload | { readonly reason: string } {
  const json = readPayload(bytes);
  if (!("reason" in json)) return json;
  const text = new TextDecoder().decode(bytes);
  if (text.includes("\u{fffd}") || !/^[^\s[{"=&]+=/.test(text)) return json;
  const form = new URLSearchParams(text);
  const names = [...new Set(form.keys())];
  if (names.length === 1 && names[0] === "payload") {
    return readPayload(new TextEncoder().encode(form.get("payload") as string));
  }
  return { value: Object.fromEntries(form), json: null };
}

function readPayload(bytes: Uint8Array<ArrayBuffer>): Payload | { readonly reason: string } {
  const read = readJson(bytes);
  if (!read.ok) return { reason: read.reason };
  // JSON in UTF-8 begins with this byte only if there is a byte order mark
  return { value: read.value, json: bytes[0] === 0xef ? bytes.subarray(3) : bytes };
}

function readEvent(vendor: Vendor, verified: VerifiedRequest, member: Payload): ParsedEvent | string {
  const id = first(vendor.id, (field) =>
    "digest" in field ? verified.signedId : textAt(field, verified, member),
  );
  if (id === null) return `There is no id in ${vendor.id.map(describe).join(" or ")}.`;
  const type = first(vendor.type, (field) =>
    "fixed" in field ? field.fixed : textAt(field, verified, member),
  );
  if (type === null) return `There is no type in ${vendor.type.map(describe).join(" or ")}.`;
  const createdAtMs = first(vendor.time, ({ at, format }) => {
    const text = textAt(at, verified, member);
    return text === null ? null : readTimeMs(text, format);
  });
  return {
    id,
    type,
    subject: null,
    sequence: null,
    createdAt: createdAtMs === null ? null : new Date(createdAtMs),
    data: first(vendor.data, (path) => valueAt(member.value, path) ?? null) ?? member.value,
    payload: member.value,
  };
}

function requestAlone({ value, json }: Payload): NonNullable<ParsedEvent["standalone"]> {
  const text = json === null ? JSON.stringify(value) : new TextDecoder().decode(json);
  return { headers: {}, body: new TextEncoder().encode(`[${text}]`) };
}

const JSON_TYPE = { "content-type": "application/json" };

/** The response to a challenge that must be signed; null if the request is not such a challenge. */
export async function signedResponse(
  { challenges = [] }: Vendor,
  { headers, body }: Pick<VerifiedRequest, "headers" | "body">,
  sign: (text: string) => Promise<string>,
): Promise<WebhookResponse | null> {
  for (const { when, status, answer } of challenges) {
    if (answer === null || !("signed" in answer)) continue;
    const payload = readBody(body);
    if ("reason" in payload || !when.every(({ at, is }) => textAt(at, { headers }, payload) === is)) continue;
    const text = valueAt(payload.value, answer.signed);
    if (typeof text !== "string") continue;
    const echo = { [answer.text]: text, [answer.signature]: await sign(text) };
    return { status, headers: JSON_TYPE, body: JSON.stringify(echo) };
  }
  return null;
}

function responseToChallenge(
  vendor: Vendor,
  verified: VerifiedRequest,
  payload: Payload,
): WebhookResponse | null {
  for (const { when, status, answer } of vendor.challenges ?? []) {
    if (!when.every(({ at, is }) => textAt(at, verified, payload) === is)) continue;
    if (answer === null) return { status, headers: {}, body: "" };
    if ("signed" in answer) continue;
    if ("json" in answer) return { status, headers: JSON_TYPE, body: answer.json };
    const echoed = valueAt(payload.value, answer.echo);
    if (typeof echoed === "string") {
      return { status, headers: { "content-type": "text/plain" }, body: echoed };
    }
  }
  return null;
}

function first<Choice, Found>(choices: readonly Choice[], find: (choice: Choice) => Found | null) {
  for (const choice of choices) {
    const found = find(choice);
    if (found !== null) return found;
  }
  return null;
}

/** Non-empty strings and numbers as text; null for anything else. */
function textAt(
  field: VendorField,
  { headers }: Pick<VerifiedRequest, "headers">,
  payload: Payload,
): string | null {
  if ("header" in field) return readHeader(headers, field.header);
  if ("body" in field) return memberText(payload, field.body);
  const parts = field.joined.map((path) => memberText(payload, path));
  return parts.includes(null) ? null : parts.join("-");
}

function memberText({ value, json }: Payload, path: Path): string | null {
  const member = valueAt(value, path);
  if (typeof member === "string" && member !== "") return member;
  if (typeof member !== "number") return null;
  // JSON.parse rounds larger numbers, which would give events with different ids the same one
  const isExact = Math.abs(member) <= Number.MAX_SAFE_INTEGER;
  const written = isExact || json === null ? null : rawValueAt(json, path);
  return written === null ? String(member) : new TextDecoder().decode(written);
}

function valueAt(payload: unknown, path: Path): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function describe(field: VendorField | { readonly digest: string } | { readonly fixed: string }): string {
  if ("header" in field) return `the header ${field.header}`;
  if ("body" in field) return `${field.body.join(".")} of the body`;
  if ("joined" in field) return `${field.joined.map((path) => path.join(".")).join(", ")} of the body`;
  return "digest" in field ? "its digest" : field.fixed;
}
