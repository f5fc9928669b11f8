// Turns the bytes of a request into publish inputs. `data` is cut out of the bytes unchanged; all other fields are
// type-checked, so that every mistake of a batch is reported before any of it is published.
import {
  MAX_MEMBERS,
  type RawDocument,
  type RawItem,
  type RawMembers,
  rawMembers,
  TooDeepError,
  TooManyMembersError,
} from "@posthorn/wire";
import type { PublishInput, UserPublishInput } from "posthorn";
import { CheckedJson, maxPayloadBytes, payloadTooLarge } from "posthorn/internal";
import { DUPLICATE_FIELD, type FieldError, HttpError, invalidBody } from "../../http-error.ts";
import { PROBLEM_LIMIT, pointerTo, unknownField } from "../../input/issues.ts";
import { parseJson } from "../../middleware/read-body.ts";

const MAX_EVENTS = 500;

export type EventsInput =
  | { readonly kind: "one"; readonly input: PublishInput }
  | { readonly kind: "user"; readonly input: UserPublishInput }
  | { readonly kind: "many"; readonly inputs: readonly PublishInput[] };

export function readEvents(body: Buffer): EventsInput {
  // Depth and counts are checked before the parser allocates memory.
  const raw = scan(body);
  const parsed = (raw.isValid ? withoutData(body, raw) : null) ?? parseJson(body);
  const problems: FieldError[] = [];
  const input =
    raw.kind === "array"
      ? readMany(body, parsed as readonly unknown[], raw.items, problems)
      : readOne(body, parsed, raw.members, problems);
  if (problems.length > 0) throw invalidBody(problems);
  return input;
}

/**
 * Returns what JSON.parse would, but leaves `data` undefined: only schema validation needs its value, and parses it
 * then. Returns null if an event has an unknown field or is not an object.
 */
function withoutData(body: Buffer, raw: RawDocument): unknown {
  if (raw.kind === "object") return fieldsOf(body, raw.members);
  const events: unknown[] = [];
  for (const { start, members } of raw.items) {
    const fields = body[start] === OPEN_OBJECT ? fieldsOf(body, members) : null;
    if (fields === null) return null;
    events.push(fields);
  }
  return events;
}

function fieldsOf(body: Buffer, members: RawMembers): Event | null {
  const fields: Record<string, unknown> = {};
  for (const { nameStart, nameEnd, start, end } of members) {
    const name = FIELDS.find((field) => isText(field, body, nameStart, nameEnd));
    if (name === undefined) return null;
    fields[name] = name === "data" ? undefined : parseField(body, start, end);
  }
  return fields;
}

/** Whether the bytes are this ASCII text in quotes, without escapes. */
function isText(text: string, body: Buffer, start: number, end: number): boolean {
  if (end - start !== text.length + 2) return false;
  for (let at = 0; at < text.length; at += 1) if (body[start + 1 + at] !== text.charCodeAt(at)) return false;
  return true;
}

function parseField(body: Buffer, start: number, end: number): unknown {
  const text = body.toString("utf8", start, end);
  // most fields are such texts, and JSON.parse takes several times as long
  return text.startsWith('"') && !text.includes("\\") ? text.slice(1, -1) : JSON.parse(text);
}

export function scan(body: Buffer): RawDocument {
  const raw = scanned(body);
  if (raw.kind === "object") refuseLong(body, raw.members, "");
  else {
    if (raw.items.length > MAX_EVENTS) throw tooManyEvents(raw.items.length);
    // an item that is not an object counts as one member
    for (const [index, item] of raw.items.entries())
      refuseLong(body, item.members.length === 0 ? [item] : item.members, `/${index}`);
  }
  return raw;
}

function scanned(body: Buffer): RawDocument {
  try {
    return rawMembers(body);
  } catch (error) {
    if (error instanceof TooManyMembersError) {
      const message = `An event has more than ${MAX_MEMBERS} fields. Expected one of: ${FIELDS.join(", ")}. Put your own fields into data.`;
      throw invalidBody([{ pointer: "", message }]);
    }
    if (!(error instanceof TooDeepError)) throw error;
    throw new HttpError("invalid_body", "The JSON is nested deeper than 64 levels. Flatten it.");
  }
}

/**
 * Checks sizes before parsing: 15 MB of `{}` blocked the process for six seconds. An escaped string may be six times as
 * long as its value.
 */
function refuseLong(body: Buffer, members: readonly Pick<RawItem, "start" | "end">[], pointer: string): void {
  let nested = 0;
  for (const { start, end } of members) {
    const isText = body[start] === QUOTE;
    if (!isText) nested += end - start;
    const length = isText ? end - start : nested;
    if (length > (isText ? 6 * maxPayloadBytes : maxPayloadBytes))
      throw payloadTooLarge(length, `${pointer}/data`);
  }
}

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;

function readMany(
  body: Buffer,
  parsed: readonly unknown[],
  items: readonly RawItem[],
  problems: FieldError[],
): EventsInput {
  if (parsed.length === 0)
    problems.push({ pointer: "", message: "The array is empty. Send at least one event." });
  const inputs = parsed.map((item, index) =>
    readEvent("tenant", body, item, items[index]?.members ?? [], `/${index}`, problems),
  );
  return { kind: "many", inputs };
}

function tooManyEvents(count: number): HttpError {
  const message = `The array has ${count} events. Send at most ${MAX_EVENTS} at once.`;
  return invalidBody([{ pointer: "", message }]);
}

function readOne(body: Buffer, parsed: unknown, members: RawMembers, problems: FieldError[]): EventsInput {
  const { user, tenant } = (parsed ?? {}) as { user?: unknown; tenant?: unknown };
  return isPresent(user) && !isPresent(tenant)
    ? { kind: "user", input: readEvent("user", body, parsed, members, "", problems) }
    : { kind: "one", input: readEvent("tenant", body, parsed, members, "", problems) };
}

const FIELDS = ["tenant", "user", "type", "data", "subject", "api_version", "idempotency_key"];
const NOTHING: PublishInput & UserPublishInput = { tenant: "", user: "", type: "" };

/** The publish input for each kind of owner. */
interface InputFor {
  readonly tenant: PublishInput;
  readonly user: UserPublishInput;
}

function readEvent<Owner extends keyof InputFor>(
  owner: Owner,
  body: Buffer,
  parsed: unknown,
  members: RawMembers,
  pointer: string,
  problems: FieldError[],
): InputFor[Owner] {
  if (problems.length >= PROBLEM_LIMIT) return NOTHING;
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    problems.push({ pointer, message: "An event must be a JSON object." });
    return NOTHING;
  }
  const names = Object.keys(parsed);
  // Equal counts mean that no name is repeated. Then the n-th name belongs to the n-th member: JavaScript keeps the order
  // of all names except integers, which are not field names here.
  if (names.length !== members.length) {
    problems.push({ pointer, message: DUPLICATE_FIELD });
    return NOTHING;
  }
  const event = parsed as Readonly<Record<string, unknown>>;
  if (isPresent(event.specversion)) {
    const mode = pointer === "" ? "" : "-batch";
    const message = `This is a CloudEvent. Send it with Content-Type: application/cloudevents${mode}+json.`;
    problems.push({ pointer: `${pointer}/specversion`, message });
    return NOTHING;
  }
  const before = problems.length;
  for (const name of names) {
    if (FIELDS.includes(name)) continue;
    if (problems.length >= PROBLEM_LIMIT) break;
    problems.push({ pointer: `${pointer}${pointerTo([name])}`, message: unknownField(name, FIELDS) });
  }
  if (owner === "tenant" && isPresent(event.user)) {
    const message =
      pointer === ""
        ? "Give tenant or user, not both."
        : "An event for a user is published on its own, not in an array.";
    problems.push({ pointer: `${pointer}/user`, message });
    return NOTHING;
  }
  const ownerId = required(event, owner, pointer, problems);
  const type = required(event, "type", pointer, problems);
  const subject = optional(event, "subject", pointer, problems);
  const apiVersion = optional(event, "api_version", pointer, problems);
  const idempotencyKey = optional(event, "idempotency_key", pointer, problems);
  const data = members[names.indexOf("data")];
  if (data === undefined) problems.push({ pointer: `${pointer}/data`, message: "This field is required." });
  if (problems.length > before || data === undefined) return NOTHING;
  return {
    [owner]: ownerId,
    type,
    rawData: new CheckedJson(body.subarray(data.start, data.end), event.data),
    ...(subject !== undefined && { subject }),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  } as unknown as InputFor[Owner];
}

/** Null means the same as an absent field. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

type Event = Readonly<Record<string, unknown>>;

function required(event: Event, name: string, pointer: string, problems: FieldError[]): string {
  const value = event[name];
  if (typeof value === "string") return value;
  const message = value === undefined ? "This field is required." : "This must be a string.";
  problems.push({ pointer: `${pointer}/${name}`, message });
  return "";
}

function optional(event: Event, name: string, pointer: string, problems: FieldError[]): string | undefined {
  const value = event[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  problems.push({ pointer: `${pointer}/${name}`, message: "This must be a string." });
  return undefined;
}
