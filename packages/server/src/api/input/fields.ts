// Reads a JSON body by a table of its fields: each has a name in the API, a name in the library and a type. What is
// not in the table is refused, so that nobody sets what was not meant to be set.
import { didYouMean } from "posthorn/internal";
import type { Exchange } from "../exchange.ts";
import { HttpError, type ProblemPlace } from "../http-error.ts";
import { parseJson, readJsonBytes } from "../middleware/read-body.ts";

/** A value of the right JSON type, or a sentence on what is expected. Limits and meaning are the library's to check. */
export type FieldType = (value: unknown, pointer: string, problems: ProblemPlace[]) => unknown;

export interface Field {
  /** The library's name of it. */
  readonly to: string;
  readonly type: FieldType;
}

export type Fields = Readonly<Record<string, Field>>;

/** Largest body of a route that takes settings, not events. */
const MAX_SETTINGS_BYTES = 256 * 1024;

/** `T` is what the library takes; it checks the values again, and their meaning. */
export async function readFields<T>(exchange: Exchange, fields: Fields): Promise<T> {
  const body = parseJson(await readJsonBytes(exchange, MAX_SETTINGS_BYTES));
  const problems: ProblemPlace[] = [];
  const values = object(fields)(body, "", problems) as T;
  if (problems.length > 0) throw invalidBody(problems);
  return values;
}

/** For routes whose body may be left out. */
export async function readOptionalFields<T>(exchange: Exchange, fields: Fields): Promise<T> {
  const { headers } = exchange.request;
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  return isEmpty ? ({} as T) : readFields<T>(exchange, fields);
}

export function invalidBody(places: readonly ProblemPlace[]): HttpError {
  const [first] = places;
  const where = first && "pointer" in first && first.pointer !== "" ? `${first.pointer}: ` : "";
  const more = places.length > 1 ? ` And ${places.length - 1} more; see errors.` : "";
  return new HttpError("invalid_body", `${where}${first?.message}${more}`, { places });
}

export function unknownField(name: string, known: readonly string[]): string {
  const what = `"${name.slice(0, 100)}" is not a field`;
  return known.length === 0 ? `${what}: this takes no fields.` : `${what}. ${didYouMean(name, known)}`;
}

/** Shown by GET, and refused by name: whoever sends back what was shown is told what to drop. */
export const readOnly: FieldType = (value) => value;

function readOnlyField(name: string, fields: Fields): string {
  const names = Object.keys(fields).filter((other) => fields[other]?.type === readOnly);
  return `"${name}" is read-only. Leave out what cannot be set: ${names.join(", ")}.`;
}

export function object(fields: Fields): FieldType {
  const settable = Object.keys(fields).filter((name) => fields[name]?.type !== readOnly);
  return (value, pointer, problems) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      problems.push({ pointer, message: "This must be a JSON object." });
      return {};
    }
    const values: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      const place = `${pointer}/${escapePointer(name)}`;
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) problems.push({ pointer: place, message: unknownField(name, settable) });
      else if (field.type === readOnly)
        problems.push({ pointer: place, message: readOnlyField(name, fields) });
      else values[field.to] = field.type(inner, place, problems);
    }
    return values;
  };
}

export const text: FieldType = typed("a string", (value) => typeof value === "string");
export const flag: FieldType = typed("true or false", (value) => typeof value === "boolean");
export const wholeNumber: FieldType = typed("a whole number", (value) => Number.isSafeInteger(value));
export const wholeNumberList: FieldType = typed(
  "an array of whole numbers",
  (value) => Array.isArray(value) && value.every((item) => Number.isSafeInteger(item)),
);
export const textList: FieldType = typed(
  "an array of strings",
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
);
/** Names and values are the caller's own and stay as they are. */
export const textMap: FieldType = typed(
  "an object whose values are strings",
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === "string"),
);

/** A string, or else an object. */
export function anyOf(whenText: FieldType, whenObject: FieldType): FieldType {
  return (value, pointer, problems) =>
    (typeof value === "string" ? whenText : whenObject)(value, pointer, problems);
}

export function nullable(type: FieldType): FieldType {
  return (value, pointer, problems) => (value === null ? null : type(value, pointer, problems));
}

function typed(expected: string, isRight: (value: unknown) => boolean): FieldType {
  return (value, pointer, problems) => {
    if (!isRight(value)) problems.push({ pointer, message: `This must be ${expected}.` });
    return value;
  };
}

/** RFC 6901 §3. */
export function escapePointer(name: string): string {
  return name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
}
