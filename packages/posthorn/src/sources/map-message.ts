// Maps the content of pg_logical_emit_message to an event: JSON with the fields of POST /api/v1/events, and an id.
import { isObject, MAX_MEMBERS, type RawMembers, rawMembers } from "@posthorn/wire";
import { refuseUnknown } from "../did-you-mean.ts";
import { PosthornError } from "../errors.ts";
import { maxPayloadBytes } from "../event/limits.ts";
import type { PublishInput } from "../event/validate.ts";
import type { Change } from "../storage/foreign/pgoutput.ts";
import { keyOf } from "./map-row.ts";

type LogMessage = Extract<Change, { kind: "message" }>;

const fields = ["tenant", "type", "data", "subject", "api_version", "id"];

/** More than the other fields need. */
const MAX_CONTENT_BYTES = maxPayloadBytes + 64 * 1024;

/**
 * A message without an id is identified by its position in the log of its cluster: another cluster has other messages at
 * the same positions. Throws a `PosthornError` for invalid content.
 */
export function mapMessage(
  source: string,
  cluster: string,
  { lsn, content, bytes }: Pick<LogMessage, "lsn" | "content" | "bytes">,
): PublishInput {
  if (content === null || bytes > MAX_CONTENT_BYTES) {
    throw invalid(`The message has ${bytes} bytes; the limit is ${MAX_CONTENT_BYTES}.`);
  }
  const { message, members } = parse(content);
  refuseUnknown("A message has no field", message, fields, "invalid_event");
  const names = Object.keys(message);
  const data = members[names.indexOf("data")];
  const { tenant, type, subject, api_version: apiVersion, id = `${cluster}/${lsn}` } = message;
  if (typeof id !== "string" && typeof id !== "number") throw invalid("id must be text or a number.");
  // as it was written, because JavaScript rounds numbers above 2^53
  const number = typeof id === "number" ? members[names.indexOf("id")] : undefined;
  const idText = number === undefined ? String(id) : String(content.subarray(number.start, number.end));
  // an empty one would make one event of all messages
  if (idText === "") throw invalid("id is empty. Set it, or leave it out.");
  const idempotencyKey = keyOf(source, idText);
  if (idempotencyKey instanceof PosthornError) throw idempotencyKey;
  return {
    tenant,
    type,
    subject: subject ?? undefined,
    apiVersion: apiVersion ?? undefined,
    idempotencyKey,
    ...(data !== undefined && { rawData: content.subarray(data.start, data.end) }),
    // validation reports fields of another type
  } as PublishInput;
}

function parse(content: Buffer): {
  readonly message: Readonly<Record<string, unknown>>;
  readonly members: RawMembers;
} {
  try {
    const message = JSON.parse(String(content));
    const raw = rawMembers(content);
    if (raw.kind !== "object" || !isObject(message)) throw new Error("it is not an object");
    if (Object.keys(message).length !== raw.members.length) throw new Error("a field is given twice");
    return { message, members: raw.members };
  } catch (error) {
    throw invalid(
      `The message must be a JSON object with at most ${MAX_MEMBERS} fields: ${(error as Error).message || "it is nested too deeply"}.`,
    );
  }
}

function invalid(message: string): PosthornError {
  return new PosthornError("invalid_event", message);
}
