// An event type as it is written in the catalogue, and carried from one to another.
import type { JsonSchema } from "../json-schema/compile-schema.ts";

export interface CatalogueEntry {
  readonly name: string;
  readonly apiVersion: string;
  readonly description: string | null;
  /** JSON Schema 2020-12 of the data; null: it may be anything. */
  readonly schema: JsonSchema | null;
  readonly example: unknown;
  /** What people without `payloads:read` do not see: JSON Pointers, `*` for every item or member. */
  readonly redact: readonly string[];
  readonly deprecated: boolean;
}

/** Under which an entry stands in documents; no two entries have the same. */
export function keyOf({ name, apiVersion }: Pick<CatalogueEntry, "name" | "apiVersion">): string {
  return `${name}-${apiVersion}`;
}
