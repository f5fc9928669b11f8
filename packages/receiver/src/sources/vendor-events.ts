// Reads the events of an authentic request by a vendor's description.
import { type Path, type Place, readJson, readTimeMs, type Vendor } from "@posthorn/wire";
import { readHeader } from "../headers.ts";
import type { Authentic, WebhookResponse } from "../model.ts";
import type { Parsed, ParsedEvent } from "../source.ts";

export function readVendorEvents(vendor: Vendor, authentic: Authentic): Parsed {
  const body = readBody(authentic.body);
  if (!body.ok) return { kind: "malformed", reason: body.reason };

  const answer = responseToChallenge(vendor, authentic, body.value);
  if (answer !== null) return { kind: "answer", answer };

  const members = vendor.isBatch && Array.isArray(body.value) ? body.value : [body.value];
  const events: ParsedEvent[] = [];
  for (const member of members) {
    const event = readEvent(vendor, authentic, member);
    if (typeof event === "string") return { kind: "malformed", reason: event };
    events.push(members.length === 1 ? event : { ...event, alone: requestAlone(member) });
  }
  return { kind: "events", events };
}

/** Lower-case names of all headers that the description looks at. */
export function headersReadBy(vendor: Vendor): string[] {
  const places = [
    ...vendor.id,
    ...vendor.type,
    ...vendor.time.map(({ at }) => at),
    ...(vendor.challenges ?? []).flatMap(({ when }) => when.map(({ at }) => at)),
  ];
  return [...new Set(places.flatMap((place) => ("header" in place ? place.header.toLowerCase() : [])))];
}

type Body = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/**
 * JSON, or a form; one whose only parameter is `payload` stands for the JSON in it, as GitHub and Slack send. The bytes
 * decide and not the content type, since that is not signed.
 */
function readBody(bytes: Uint8Array): Body {
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

function readEvent(vendor: Vendor, authentic: Authentic, member: unknown): ParsedEvent | string {
  const id = first(vendor.id, (place) =>
    "digest" in place ? authentic.signedId : textAt(place, authentic, member),
  );
  if (id === null) return `There is no id in ${vendor.id.map(describe).join(" or ")}.`;
  const type = first(vendor.type, (place) =>
    "fixed" in place ? place.fixed : textAt(place, authentic, member),
  );
  if (type === null) return `There is no type in ${vendor.type.map(describe).join(" or ")}.`;
  const createdAtMs = first(vendor.time, ({ at, format }) => {
    const text = textAt(at, authentic, member);
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

function requestAlone(member: unknown): NonNullable<ParsedEvent["alone"]> {
  return { headers: {}, body: new TextEncoder().encode(JSON.stringify([member])) };
}

const JSON_TYPE = { "content-type": "application/json" };

/** The answer to a question that has to be signed, by what signs texts here; null when it is no such question. */
export async function signedResponse(
  { challenges = [] }: Vendor,
  { headers, body }: Pick<Authentic, "headers" | "body">,
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

function responseToChallenge(vendor: Vendor, authentic: Authentic, payload: unknown): WebhookResponse | null {
  for (const { when, status, answer } of vendor.challenges ?? []) {
    if (!when.every(({ at, is }) => textAt(at, authentic, payload) === is)) continue;
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

/** Texts and numbers; null for everything else, and for an empty text. */
function textAt(place: Place, { headers }: Pick<Authentic, "headers">, payload: unknown): string | null {
  if ("header" in place) return readHeader(headers, place.header);
  if ("body" in place) return asText(valueAt(payload, place.body));
  const parts = place.joined.map((path) => asText(valueAt(payload, path)));
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

function describe(place: Place | { readonly digest: string } | { readonly fixed: string }): string {
  if ("header" in place) return `the header ${place.header}`;
  if ("body" in place) return `${place.body.join(".")} of the body`;
  if ("joined" in place) return `${place.joined.map((path) => path.join(".")).join(", ")} of the body`;
  return "digest" in place ? "its digest" : place.fixed;
}
