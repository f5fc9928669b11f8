// Compares the catalogue of a file with that of a server.
import { isDeepStrictEqual } from "node:util";
import type { CatalogueType } from "./server-catalogue.ts";

export interface Difference {
  readonly name: string;
  readonly api_version: string;
  readonly change: "new" | "changed" | "only on the server";
  /** The fields that differ. */
  readonly fields: readonly string[];
}

export function keyOf({ name, api_version }: Pick<CatalogueType, "name" | "api_version">): string {
  return `${name} ${api_version}`;
}

const FIELDS = ["description", "schema", "example", "redact", "deprecated"] as const;

/** Sorted by name and version. */
export function differencesOf(
  file: readonly CatalogueType[],
  server: readonly CatalogueType[],
): Difference[] {
  const known = new Map(server.map((type) => [keyOf(type), type]));
  const wanted = new Set(file.map(keyOf));
  const differences = [
    ...file.flatMap((type) => differenceOf(type, known.get(keyOf(type))) ?? []),
    ...server.filter((type) => !wanted.has(keyOf(type))).map((type) => of(type, "only on the server")),
  ];
  return differences.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function differenceOf(type: CatalogueType, known: CatalogueType | undefined): Difference | null {
  if (known === undefined) return of(type, "new");
  const fields = FIELDS.filter((field) => !isSame(field, type[field], known[field]));
  return fields.length === 0 ? null : of(type, "changed", fields);
}

/** An empty schema accepts any data, like none. */
function isSame(field: (typeof FIELDS)[number], a: unknown, b: unknown): boolean {
  const acceptsAny = (schema: unknown) => schema === null || isDeepStrictEqual(schema, {});
  return isDeepStrictEqual(a, b) || (field === "schema" && acceptsAny(a) && acceptsAny(b));
}

function of(
  { name, api_version }: CatalogueType,
  change: Difference["change"],
  fields: readonly string[] = [],
): Difference {
  return { name, api_version, change, fields };
}
