// Maps a row of an outbox table to an event, as the source is configured.
import { PosthornError } from "../errors.ts";
import { maxIdempotencyKeyLength, maxPayloadBytes } from "../event/limits.ts";
import { payloadTooLarge } from "../event/validate.ts";
import type { SourceTable } from "./options.ts";
import type { Row, SourceItem } from "./reader.ts";

type MappedRow = Pick<SourceItem, "input" | "tooLarge">;

/** Returns an error for a row without an id. The event is not validated yet. */
export function mapRow(source: string, { columns, values }: SourceTable, row: Row): MappedRow {
  const { id, data, dataBytes } = row;
  if (id === null) {
    const message = `The row has no id: ${columns.id} is null. Set it, or skip the row.`;
    return { input: new PosthornError("invalid_event", message) };
  }
  const idempotencyKey = keyOf(source, id);
  if (idempotencyKey instanceof PosthornError) return { input: idempotencyKey };
  return {
    input: {
      // validation reports what is missing
      tenant: row.tenant ?? values.tenant ?? "",
      type: row.type ?? values.type ?? "",
      subject: row.subject ?? undefined,
      apiVersion: row.apiVersion ?? values.apiVersion,
      idempotencyKey,
      ...(data !== null && { rawData: Buffer.from(data) }),
    },
    ...(dataBytes > maxPayloadBytes && { tooLarge: payloadTooLarge(dataBytes) }),
  };
}

/** The same row has the same key in every source kind, so that a source may change its kind. */
export function keyOf(source: string, id: string): string | PosthornError {
  const key = `${source}/${id}`;
  if ([...key].length <= maxIdempotencyKeyLength && !/[\p{Cc}\p{Cs}]/u.test(id)) return key;
  const limit = maxIdempotencyKeyLength - source.length - 1;
  const message = `The id must be at most ${limit} characters without control characters.`;
  return new PosthornError("invalid_event", message);
}

/** Returns every column that the mapping reads, each once. */
export function columnsOf({ columns, filter }: SourceTable): readonly string[] {
  const named = Object.values(columns).filter((column): column is string => column !== undefined);
  return [...new Set([...named, ...filter.keys()])];
}
