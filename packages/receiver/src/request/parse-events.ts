// Turns a verified request into messages for the store and events for the handlers.

import { sha256HexOf } from "@posthorn/wire";
import { PermanentFailure } from "../errors.ts";
import { errorLine } from "../handle/decide-failure.ts";
import type { EventSchemas, SchemaIssue, StandardSchema } from "../handle/handlers.ts";
import { headersWith, readHeader } from "../headers.ts";
import type { Message, VerifiedRequest, WebhookEvent, WebhookResponse } from "../model.ts";
import { malformed } from "../respond.ts";
import type { Parsed, ParsedEvent, Source } from "../source.ts";
import { Rejection } from "./rejection.ts";

export interface Received {
  readonly message: Message;
  readonly event: WebhookEvent;
}

export type Content =
  | { readonly kind: "events"; readonly received: readonly Received[] }
  | { readonly kind: "answer"; readonly answer: WebhookResponse };

/** Source, id and subject share an index, whose entries PostgreSQL limits to 2,700 bytes; a character takes up to 4. */
export const MAX_ID_LENGTH = 512;
export const MAX_TYPE_LENGTH = 256;
export const MAX_SUBJECT_LENGTH = 512;

export async function parseEvents(
  verified: VerifiedRequest,
  source: Source,
  schemas: EventSchemas,
): Promise<Content | Rejection> {
  const parsed = parseSafely(verified, source);
  if (parsed.kind === "answer") return parsed;
  if (parsed.kind === "malformed") return notAnEvent(parsed.reason, source);
  const received: Received[] = [];
  for (const event of parsed.events) {
    const problem = problemOf(event);
    if (problem !== null) return notAnEvent(problem, source);
    const data = Object.hasOwn(schemas, event.type) ? await checkData(event, schemas) : valid(event.data);
    if (!data.ok) return new Rejection(malformed(data.reason), "invalid_data", data.reason, source.name);
    const body = event.standalone?.body ?? verified.body;
    const digested = sha256HexOf(source.hasStableBody ? body : new TextEncoder().encode(event.id));
    const digest = typeof digested === "string" ? digested : await digested;
    received.push(toReceived(event, data.value, verified, source, digest));
  }
  return { kind: "events", received };
}

/** Parses a message that was read from the store. */
export async function parseStored(
  message: Message,
  sources: readonly Source[],
  schemas: EventSchemas,
): Promise<WebhookEvent> {
  const source = sources.find(({ name }) => name === message.source);
  if (source === undefined) throw new PermanentFailure(`The source "${message.source}" no longer exists.`);
  const parsed = parseSafely({ ...message, signedId: message.id }, source);
  const [event] = parsed.kind === "events" ? parsed.events : [];
  if (event === undefined) {
    throw new PermanentFailure(
      parsed.kind === "malformed" ? parsed.reason : "The message contains no event.",
    );
  }
  const data = await checkData({ type: message.type, data: event.data }, schemas);
  if (!data.ok) throw new PermanentFailure(data.reason);
  return eventFrom(message, event, data.value);
}

/** Catches errors of custom sources, and of JSON that is nested too deeply. */
function parseSafely(verified: VerifiedRequest, source: Source): Parsed {
  try {
    return source.parse(verified);
  } catch (error) {
    return { kind: "malformed", reason: `The body could not be read: ${errorLine(error)}` };
  }
}

function toReceived(
  event: ParsedEvent,
  data: unknown,
  verified: VerifiedRequest,
  source: Source,
  digest: string,
): Received {
  const { id, type, subject, sequence, createdAt, standalone, sequenceScope = subject } = event;
  const message: Message = {
    source: source.name,
    id,
    digest,
    type,
    subject: sequenceScope,
    sequence,
    createdAt,
    headers: standalone?.headers ?? keptHeaders(verified, source),
    body: standalone?.body ?? verified.body,
  };
  return { message, event: eventFrom(message, event, data) };
}

function eventFrom(
  { source, id, type, sequence, createdAt, body }: Message,
  { subject, payload }: ParsedEvent,
  data: unknown,
): WebhookEvent {
  // A copy, because handlers may modify it while the message may still become a dead letter.
  return { source, id, type, subject, sequence, createdAt, body: new Uint8Array(body), data, payload };
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

// PostgreSQL stores neither NUL nor lone surrogates.
const NOT_STORABLE = /\0|\p{Surrogate}/u;

function textProblem(what: string, text: string, maxLength: number): string | null {
  if (typeof text !== "string" || text === "") return `The ${what} is empty.`;
  if (text.length > maxLength) return `The ${what} has more than ${maxLength} characters.`;
  return NOT_STORABLE.test(text) ? `The ${what} contains a character that cannot be stored.` : null;
}

type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

function valid(value: unknown): Checked {
  return { ok: true, value };
}

async function checkData(
  { type, data }: Pick<ParsedEvent, "type" | "data">,
  schemas: EventSchemas,
): Promise<Checked> {
  const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
  if (schema === undefined) return valid(data);
  const result = await validate(schema, type, data);
  if (result.issues === undefined) return valid(result.value);
  const issues = result.issues.slice(0, 5).map(issueText).join("; ");
  return { ok: false, reason: `The data of ${type} does not match its schema: ${issues}` };
}

/** A schema that throws is a bug in the schema and not in the data, so the sender should retry. */
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

/** A name that ends in `*` stands for all names with that prefix. */
function keptHeaders({ headers }: VerifiedRequest, { parsedHeaders }: Source): Record<string, string> {
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
