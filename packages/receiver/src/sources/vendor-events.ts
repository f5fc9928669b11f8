// Parses the events of a verified request according to a vendor's description.
import { type Json, type Path, readJson, readTimeMs, type Vendor, type VendorField } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { VerifiedRequest, WebhookResponse } from "../model.ts";
import type { Parsed, ParsedEvent } from "../source.ts";

export function readVendorEvents(vendor: Vendor, verified: VerifiedRequest): Parsed {
  const body = readBody(verified.body);
  if (!body.ok) return { kind: "malformed", reason: body.reason };

  const answer = responseToChallenge(vendor, verified, body.value);
  if (answer !== null) return { kind: "answer", answer };

  const members = vendor.isBatch && Array.isArray(body.value) ? body.value : [body.value];
  const events: ParsedEvent[] = [];
  for (const member of members) {
    const event = readEvent(vendor, verified, member);
    if (typeof event === "string") return { kind: "malformed", reason: event };
    events.push(members.length === 1 ? event : { ...event, standalone: requestAlone(member) });
  }
  return { kind: "events", events };
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
function readBody(bytes: Uint8Array): Json {
  const json = readJson(bytes);
  const text = json.ok ? "" : new TextDecoder().decode(bytes);
  if (json.ok || text.includes("\u{fffd}") || !/^[^\s[{"=&]+=/.test(text)) return json;
  const form = new URLSearchParams(text);
  const names = [...new Set(form.keys())];
  if (names.length === 1 && names[0] === "payload") {
    return readJson(new TextEncoder().encode(form.get("payload") as string));
  }
  return { ok: true, value: Object.fromEntries(form) };
}

function readEvent(vendor: Vendor, verified: VerifiedRequest, member: unknown): ParsedEvent | string {
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
    data: first(vendor.data, (path) => valueAt(member, path) ?? null) ?? member,
    payload: member,
  };
}

function requestAlone(member: unknown): NonNullable<ParsedEvent["standalone"]> {
  return { headers: {}, body: new TextEncoder().encode(JSON.stringify([member])) };
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
    if (!payload.ok || !when.every(({ at, is }) => textAt(at, { headers }, payload.value) === is)) continue;
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
  payload: unknown,
): WebhookResponse | null {
  for (const { when, status, answer } of vendor.challenges ?? []) {
    if (!when.every(({ at, is }) => textAt(at, verified, payload) === is)) continue;
    if (answer === null) return { status, headers: {}, body: "" };
    if ("signed" in answer) continue;
    if ("json" in answer) return { status, headers: JSON_TYPE, body: answer.json };
    const echoed = valueAt(payload, answer.echo);
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
  payload: unknown,
): string | null {
  if ("header" in field) return readHeader(headers, field.header);
  if ("body" in field) return asText(valueAt(payload, field.body));
  const parts = field.joined.map((path) => asText(valueAt(payload, path)));
  return parts.includes(null) ? null : parts.join("-");
}

function asText(value: unknown): string | null {
  return typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : null;
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
