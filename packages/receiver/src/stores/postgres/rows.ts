// Converts between messages and PostgreSQL's values.
import type { Message } from "../../model.ts";
import type { Claim, ClaimOptions, DeadLetter } from "../../store.ts";
import type { Row, Value } from "./database.ts";

/** The values of a message with its content, in the order of `contentParameters`. */
export function contentValues(message: Message): Value[] {
  return [
    ...keyValues(message),
    message.digest,
    text(message.type),
    ...subjectValues(message),
    timeValue(message.createdAt),
    JSON.stringify(message.headers),
    message.body,
  ];
}

/** PostgreSQL's timestamps begin in 4713 BC. A sender's clock is no reason to reject a message. */
const FIRST_TIME_MS = Date.UTC(-4712, 0, 1);

function timeValue(time: Date | null): number | null {
  return time !== null && time.getTime() >= FIRST_TIME_MS ? time.getTime() : null;
}

/** The same values without the content. */
export function briefValues(message: Message): Value[] {
  return [...keyValues(message), message.digest, null, ...subjectValues(message), null, null, null];
}

/** The parameters of both, numbered from `first`. */
export function contentParameters(first: number): string {
  return [
    "$::text",
    "$::text",
    "decode($::text, 'hex')",
    "$::text",
    "$::text",
    "$::bigint",
    "to_timestamp($::double precision / 1000)",
    "$::text",
    "$::bytea",
  ]
    .map((parameter, index) => parameter.replace("$", `$${first + index}`))
    .join(", ");
}

export function keyValues({ source, id }: { readonly source: string; readonly id: string }): Value[] {
  return [text(source), text(id)];
}

export function subjectValues({ subject, sequence }: Message): Value[] {
  return [subject === null ? null : text(subject), sequence];
}

export function optionValues({ leaseMs, windowMs, order }: ClaimOptions): Value[] {
  return [leaseMs, windowMs, order === null ? null : order.gapWaitMs];
}

/** PostgreSQL cannot store U+0000 in text. */
export function text(value: string): string {
  return value.replaceAll("\0", "\uFFFD");
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
  m.tries
`;

export function claimOf(row: Row): Claim {
  return { message: messageOf(row), token: row.token as string, tries: row.tries as number };
}

export function deadLetterOf(row: Row): DeadLetter {
  return {
    message: messageOf(row),
    tries: row.tries as number,
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
