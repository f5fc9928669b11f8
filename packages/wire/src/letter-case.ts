// The one mapping between camelCase, which TypeScript uses, and snake_case, which JSON and SQL use.

export type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : "";

export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

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

/** Fields of the API that the caller defines: the names below them are never converted. */
export const OPAQUE_FIELDS = [
  "headers",
  "envelope_fields",
  "scheme_secrets",
  "filter",
  "schema",
  "example",
  "data",
  "document",
  "webhooks",
] as const;

const OPAQUE_NAMES: ReadonlySet<string> = new Set(OPAQUE_FIELDS.flatMap((name) => [name, camelCase(name)]));

/** `name` may be in either case. */
export function isOpaqueField(name: string): boolean {
  return OPAQUE_NAMES.has(name);
}

export function snakeCase<const Name extends string>(name: Name): SnakeCase<Name> {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<Name>;
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
