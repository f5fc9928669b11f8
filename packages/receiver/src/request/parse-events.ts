// From an authentic request to messages that a store can keep and events that a handler can use.

import { PermanentFailure } from "../errors.ts";
import { errorLine } from "../handle/decide-failure.ts";
import type { EventSchemas, SchemaIssue, StandardSchema } from "../handle/handlers.ts";
import { headersWith, readHeader } from "../headers.ts";
import type { Authentic, Message, WebhookEvent, WebhookResponse } from "../model.ts";
import { malformed } from "../respond.ts";
import type { Parsed, ParsedEvent, Source } from "../source.ts";
import { digestOf } from "./digest.ts";
import { Rejection } from "./rejection.ts";

export interface Received {
  readonly message: Message;
  readonly event: WebhookEvent;
}

export type Content =
  | { readonly kind: "events"; readonly received: readonly Received[] }
  | { readonly kind: "answer"; readonly answer: WebhookResponse };

/** An index over source, id and subject must hold them: PostgreSQL's takes 2 700 bytes, and a character has up to 4. */
export const MAX_ID_LENGTH = 512;
export const MAX_TYPE_LENGTH = 256;
export const MAX_SUBJECT_LENGTH = 512;

export async function parseEvents(
  authentic: Authentic,
  source: Source,
  schemas: EventSchemas,
): Promise<Content | Rejection> {
  const parsed = parseSafely(authentic, source);
  if (parsed.kind === "answer") return parsed;
  if (parsed.kind === "malformed") return notAnEvent(parsed.reason, source);
  const received: Received[] = [];
  for (const event of parsed.events) {
    const problem = problemOf(event);
    if (problem !== null) return notAnEvent(problem, source);
    const data = await checkData(event, schemas);
    if (!data.ok) return new Rejection(malformed(data.reason), "invalid_data", data.reason, source.name);
    received.push(await receivedFrom(event, data.value, authentic, source));
  }
  return { kind: "events", received };
}

/** The same for a message that comes back from the store. */
export async function parseStored(
  message: Message,
  sources: readonly Source[],
  schemas: EventSchemas,
): Promise<WebhookEvent> {
  const source = sources.find(({ name }) => name === message.source);
  if (source === undefined) throw new PermanentFailure(`There is no source "${message.source}" any more.`);
  const parsed = parseSafely({ ...message, signedId: message.id }, source);
  const [event] = parsed.kind === "events" ? parsed.events : [];
  if (event === undefined) {
    throw new PermanentFailure(parsed.kind === "malformed" ? parsed.reason : "The message holds no event.");
  }
  const data = await checkData({ type: message.type, data: event.data }, schemas);
  if (!data.ok) throw new PermanentFailure(data.reason);
  return eventFrom(message, event, data.value);
}

/** JSON that is nested too deeply to be written again, or a source of your own that threw. */
function parseSafely(authentic: Authentic, source: Source): Parsed {
  try {
    return source.parse(authentic);
  } catch (error) {
    return { kind: "malformed", reason: `The body could not be read: ${errorLine(error)}` };
  }
}

async function receivedFrom(
  event: ParsedEvent,
  data: unknown,
  authentic: Authentic,
  source: Source,
): Promise<Received> {
  const { id, type, subject, sequence, createdAt, alone, sequenceScope = subject } = event;
  const body = alone?.body ?? authentic.body;
  const message: Message = {
    source: source.name,
    id,
    digest: await digestOf(source.hasStableBody ? body : new TextEncoder().encode(id)),
    type,
    subject: sequenceScope,
    sequence,
    createdAt,
    headers: alone?.headers ?? keptHeaders(authentic, source),
    body,
  };
  return { message, event: eventFrom(message, event, data) };
}

function eventFrom(
  { headers: _, digest: __, ...message }: Message,
  { subject, payload }: ParsedEvent,
  data: unknown,
): WebhookEvent {
  // a copy, since handlers may write into it, and the message may yet become a dead letter
  return { ...message, subject, body: new Uint8Array(message.body), data, payload };
}

function problemOf({ id, type, subject, sequence, sequenceScope }: ParsedEvent): string | null {
  const within = sequenceScope ?? subject;
  return (
    textProblem("id", id, MAX_ID_LENGTH) ??
    textProblem("type", type, MAX_TYPE_LENGTH) ??
    (within === null ? null : textProblem("subject", within, MAX_SUBJECT_LENGTH)) ??
    (sequence === null || (Number.isSafeInteger(sequence) && sequence >= 0)
      ? null
      : "The sequence is not a whole number from 0 to 2^53 - 1.")
  );
}

// PostgreSQL keeps neither NUL nor half a character.
const UNKEEPABLE = /\0|\p{Surrogate}/u;

function textProblem(what: string, text: string, maxLength: number): string | null {
  if (typeof text !== "string" || text === "") return `The ${what} is empty.`;
  if (text.length > maxLength) return `The ${what} has more than ${maxLength} characters.`;
  return UNKEEPABLE.test(text) ? `The ${what} has a character that cannot be kept.` : null;
}

type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

async function checkData(
  { type, data }: Pick<ParsedEvent, "type" | "data">,
  schemas: EventSchemas,
): Promise<Checked> {
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return { ok: true, value: data };
  const result = await validate(schema, type, data);
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = result.issues.slice(0, 5).map(issueText).join("; ");
  return { ok: false, reason: `The data of ${type} does not fit its schema: ${issues}` };
}

/** What throws is a mistake in the schema and not in the data: the sender is to come again. */
async function validate(schema: StandardSchema, type: string, data: unknown) {
  try {
    return await schema["~standard"].validate(data);
  } catch (error) {
    throw new Error(`The schema of ${type} threw: ${errorLine(error)}`, { cause: error });
  }
}

function issueText({ path = [], message }: SchemaIssue): string {
  const where = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return where === "" ? message : `${where}: ${message}`;
}

/** A name that ends in `*` stands for all that begin so. */
function keptHeaders({ headers }: Authentic, { parsedHeaders }: Source): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of parsedHeaders) {
    if (name.endsWith("*")) Object.assign(kept, Object.fromEntries(headersWith(headers, name.slice(0, -1))));
    const value = name.endsWith("*") ? null : readHeader(headers, name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

function notAnEvent(reason: string, { name }: Source): Rejection {
  return new Rejection(malformed(reason), "not_an_event", reason, name);
}
