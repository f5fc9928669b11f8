// The API speaks snake_case, the library camelCase. Below these fields the names are the caller's own and stay.
export const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  "headers",
  "filter",
  "schema",
  "example",
  "data",
  "document",
  "webhooks",
]);

/** A checked body under the library's names; the library checks the values again, and their meaning. */
export function toCamelCase<Wanted>(value: unknown): Wanted {
  return renamed(value) as Wanted;
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      camelCase(name),
      OPAQUE_FIELDS.has(name) ? inner : renamed(inner),
    ]),
  );
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

interface TimeRange {
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** A list's filters: its names, and times as dates. */
export function toFilters<Wanted>({ created_after, created_before, ...rest }: TimeRange): Wanted {
  return toCamelCase({
    ...rest,
    ...(created_after !== undefined && { createdAfter: new Date(created_after) }),
    ...(created_before !== undefined && { createdBefore: new Date(created_before) }),
  });
}
