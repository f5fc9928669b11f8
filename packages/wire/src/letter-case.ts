// The one mapping between camelCase, which TypeScript uses, and snake_case, which JSON and SQL use.

export type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : "";

/** The type of an object whose keys, at every depth, are changed to snake_case. */
export type SnakeCased<Value> = Value extends Date | Uint8Array
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly SnakeCased<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value as SnakeCasedKey<Key>]: SnakeCased<Value[Key]> }
      : Value;

/** An index signature stays as it is. */
type SnakeCasedKey<Key> = Key extends string ? (string extends Key ? Key : SnakeCase<Key>) : Key;

export function snakeCase<const Name extends string>(name: Name): SnakeCase<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>;
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields whose content belongs to the caller: the keys below them are never changed. */
export const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  "headers",
  "filter",
  "schema",
  "example",
  "data",
  "document",
  "webhooks",
]);

/** Returns a copy with camelCase keys. */
export function withCamelCase<Wanted>(value: unknown): Wanted {
  return withKeys(value, camelCase) as Wanted;
}

/** Returns a copy with snake_case keys. */
export function withSnakeCase<Value>(value: Value): SnakeCased<Value> {
  return withKeys(value, snakeCase) as SnakeCased<Value>;
}

function withKeys(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, rename));
  if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      rename(name),
      OPAQUE_FIELDS.has(name) ? inner : withKeys(inner, rename),
    ]),
  );
}
