// The API uses snake_case and the library camelCase. Names are converted here and in `present.ts`.
import { camelCase, isObject } from "@posthorn/wire";

/** Fields whose content is defined by the caller: names inside them are not converted. */
export const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  "headers",
  "filter",
  "schema",
  "example",
  "data",
  "document",
  "webhooks",
]);

/** Returns a checked body with the library's names. The library validates the values again. */
export function toCamelCase<Wanted>(value: unknown): Wanted {
  return renamed(value) as Wanted;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (!isObject(value) || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      camelCase(name),
      OPAQUE_FIELDS.has(name) ? inner : renamed(inner),
    ]),
  );
}

interface TimeRange {
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** Returns the filters of a list with the library's names, and their times as dates. */
export function toFilters<Wanted>({ created_after, created_before, ...rest }: TimeRange): Wanted {
  return toCamelCase({
    ...rest,
    ...(created_after !== undefined && { createdAfter: new Date(created_after) }),
    ...(created_before !== undefined && { createdBefore: new Date(created_before) }),
  });
}
