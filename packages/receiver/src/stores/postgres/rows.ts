// Converts between messages and PostgreSQL's values.
import type { Message, MessageKey } from "../../model.ts";
import type { Claim, DeadLetter } from "../../store.ts";
import type { Row, Value } from "./database.ts";

/** The columns that a step needs besides the message itself. */
interface StepColumns {
  readonly token?: string;
  readonly error?: string;
  readonly state?: "claimable" | "waiting" | "dead";
}

/** A message as the parameter of a function, with the values of `rowValues`. */
export const rowParameter = `row(
  $1::text, $2::text, decode($3::text, 'hex'), $4::text, $5::text, $6::bigint,
  to_timestamp($7::double precision / 1000), $8::text, $9::bytea, $10::text::uuid, $11::text, $12::text,
  null, null, null, null, null
)::posthorn_receiver.messages`;

export const ROW_VALUES = 12;

export function rowValues(message: Message, columns: StepColumns = {}): Value[] {
  const { token = null, error = null, state = null } = columns;
  return [
    ...keyValues(message),
    message.digest,
    text(message.type),
    message.subject === null ? null : text(message.subject),
    message.sequence,
    timeValue(message.createdAt),
    JSON.stringify(message.headers),
    message.body,
    token,
    error === null ? null : text(error),
    state,
  ];
}

/** The same without the content. */
export function briefValues(message: Message, columns?: StepColumns): Value[] {
  return rowValues(message, columns).map((value, at) => (CONTENT.includes(at) ? null : value));
}

/** The positions of type, time, headers and body. */
const CONTENT = [3, 6, 7, 8];

/** PostgreSQL's timestamps begin in 4713 BC. A sender's clock is no reason to reject a message. */
const FIRST_TIME_MS = Date.UTC(-4712, 0, 1);

function timeValue(time: Date | null): number | null {
  return time !== null && time.getTime() >= FIRST_TIME_MS ? time.getTime() : null;
}

export function keyValues({ source, id }: MessageKey): string[] {
  return [text(source), text(id)];
}

/** PostgreSQL cannot store U+0000 in text. */
export function text(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

/** The columns of a message `m` that `claimOf` and `deadLetterOf` read. */
export const content = `
  m.source,
  m.id,
  encode(m.digest, 'hex') as digest,
  m.type,
  m.subject,
  m.sequence::double precision as sequence,
  extract(epoch from m.created_at)::double precision * 1000 as created,
  m.headers,
  m.body,
  m.failures
`;

export function claimOf(row: Row): Claim {
  return { message: messageOf(row), token: row.token as string, failures: row.failures as number };
}

export function deadLetterOf(row: Row): DeadLetter {
  return {
    message: messageOf(row),
    failures: row.failures as number,
    error: row.error as string,
    diedAt: dateOf(row.died as number),
  };
}

function messageOf(row: Row): Message {
  return {
    source: row.source as string,
    id: row.id as string,
    digest: row.digest as string,
    type: row.type as string,
    subject: row.subject as string | null,
    sequence: row.sequence as number | null,
    createdAt: row.created === null ? null : dateOf(row.created as number),
    headers: JSON.parse(row.headers as string),
    // A copy, because libraries may return a part of a larger buffer.
    body: new Uint8Array(row.body as Uint8Array),
  };
}

const dateOf = (epochMs: number): Date => new Date(Math.round(epochMs));
