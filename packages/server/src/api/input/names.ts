// The API uses snake_case and times as text, the library camelCase and dates. Input is converted here, output in
// `present.ts`.
import {
  type CamelCase,
  camelCase,
  isObject,
  isOpaqueField,
  type OPAQUE_FIELDS,
  snakeCase,
} from "@posthorn/wire";

const TIMES = [
  "created_after",
  "created_before",
  "dead_before",
  "rejected_before",
  "start_at",
  "resent_after",
  "expires_at",
] as const;
const TIME_FIELDS: ReadonlySet<string> = new Set(TIMES);

/** A checked value of the API as the library takes it. */
export type ToLibrary<Value> = Value extends readonly (infer Item)[]
  ? readonly ToLibrary<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value as CamelCase<Name>]: FieldToLibrary<Name, Value[Name]> }
    : Value;

type FieldToLibrary<Name, Value> = Name extends (typeof TIMES)[number]
  ? Exclude<Value, string> | Date
  : Name extends (typeof OPAQUE_FIELDS)[number]
    ? Value
    : ToLibrary<Value>;

/** Returns the value with the library's names and dates. */
export function toLibrary<Value>(value: Value): ToLibrary<Value> {
  return converted(value) as ToLibrary<Value>;
}

function converted(value: unknown, field = ""): unknown {
  if (isOpaqueField(field)) return value;
  if (TIME_FIELDS.has(field)) return typeof value === "string" ? new Date(value) : value;
  if (Array.isArray(value)) return value.map((item) => converted(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [camelCase(name), converted(inner, name)]),
  );
}

/** Passes a value whose type is wider than the library's, which validates it again. */
export function unchecked<Wanted>(value: object): Wanted {
  return value as Wanted;
}

/** Converts a pointer of the library to the names of the API, except inside opaque fields. */
export function apiPointer(pointer: string): string {
  const parts = pointer.split("/");
  const ownFrom = parts.findIndex(isOpaqueField);
  return parts.map((part, at) => (ownFrom === -1 || at <= ownFrom ? snakeCase(part) : part)).join("/");
}

/**
 * Converts a message of the library to the names of the API: pointers and camelCase words become snake_case. Quoted text
 * is the caller's and stays, and so do header names, and operators, which begin with a dollar sign.
 */
export function apiText(message: string): string {
  return message.replace(
    /"[^"]*"|(?<=^|\s)\/(?:[^\s":]|:(?=\S))+|(?<![$\w-])[a-z]+(?:[A-Z][a-z0-9]*)+\b(?!-)/g,
    (part) => {
      if (part.startsWith('"')) return part;
      return part.startsWith("/") ? apiPointer(part) : snakeCase(part);
    },
  );
}
