// Maps a row of an outbox table to an event, as the source is configured.
import { PosthornError } from "../errors.ts";
import type { PublishInput } from "../event/validate.ts";
import type { SourceTable } from "./options.ts";
import type { Row } from "./reader.ts";

/** Returns null for a row that the filter excludes, and an error for one without an id. The event is not validated yet. */
export function mapRow(source: string, table: SourceTable, row: Row): PublishInput | PosthornError | null {
  for (const [column, allowed] of table.filter) {
    const value = row[column] ?? null;
    if (value === null || !allowed.includes(value)) return null;
  }
  const { columns, values } = table;
  const field = (name: "tenant" | "type" | "subject" | "apiVersion") => {
    const column = columns[name];
    return (column === undefined ? values[name as keyof typeof values] : row[column]) ?? undefined;
  };
  const data = row[columns.data] ?? null;
  const id = row[columns.id] ?? null;
  if (id === null)
    return new PosthornError(
      "invalid_event",
      `The row has no id: ${columns.id} is null. Set it, or skip the row.`,
    );
  return {
    // validation reports what is missing
    tenant: field("tenant") ?? "",
    type: field("type") ?? "",
    subject: field("subject"),
    apiVersion: field("apiVersion"),
    idempotencyKey: keyOf(source, id),
    ...(data !== null && { rawData: Buffer.from(data) }),
  };
}

/** The same row has the same key in every source kind, so that a source may change its kind. */
export function keyOf(source: string, id: string): string {
  return `${source}/${id}`;
}

/** Returns every column that the mapping reads, each once. */
export function columnsOf({ columns, filter }: SourceTable): readonly string[] {
  const named = Object.values(columns).filter((column): column is string => column !== undefined);
  return [...new Set([...named, ...filter.keys()])];
}
