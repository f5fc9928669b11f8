// An event type in the catalogue and in exported documents.
import type { JsonSchema } from "../json-schema/compile-schema.ts";

export interface CatalogueEntry {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON Schema 2020-12 of the data; null: any data. */
  readonly schema: JsonSchema | null;
  readonly example: unknown;
  /** Redacted paths for people without `payloads:read`: JSON Pointers, `*` matches every item or member. */
  readonly redact: readonly string[];
  readonly deprecated: boolean;
}

/** The unique key of an entry in documents. */
export function keyOf({ name, apiVersion }: Pick<CatalogueEntry, "name" | "apiVersion">): string {
  return `${name}-${apiVersion}`;
}
