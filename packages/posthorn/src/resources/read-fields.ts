// Reads an object field by field, so that one error reports all problems.
import { type IdKind, isObject, parseId } from "@posthorn/wire";
import { findUnknown } from "../did-you-mean.ts";
import { type ErrorCode, type InputProblem, problemAt, throwProblems } from "../errors.ts";
import type { Uuid } from "../model.ts";

/** `below` is a pointer within the field. */
export type Refuse = (message: string, below?: string) => undefined;
/** Returns the value of a field, or refuses it. A missing field is undefined. */
export type Field<T> = (value: unknown, name: string, refuse: Refuse) => T;
export type Fields = Readonly<Record<string, Field<unknown>>>;
export type ValuesOf<Known extends Fields> = { readonly [Name in keyof Known]: ReturnType<Known[Name]> };

/** `what` begins the message about an unknown field: `A key has no`. */
export function readFields<Known extends Fields>(
  code: ErrorCode,
  what: string,
  input: object,
  fields: Known,
  problems: InputProblem[] = [],
): ValuesOf<Known> {
  const names = Object.keys(fields);
  if (!isObject(input)) throw problemAt(code, "", `Pass an object with ${names.join(", ")}.`);
  findUnknown(what, input, names, problems);
  const values = Object.entries(fields).map(([name, read]) => [
    name,
    read(input[name], name, (message, below = "") => {
      problems.push({ pointer: `/${name}${below}`, message });
      return undefined;
    }),
  ]);
  throwProblems(code, problems);
  return Object.fromEntries(values);
}

/** A field that must satisfy a rule, which completes the sentence that begins with its name. */
export function required<T>(isRight: (value: unknown) => boolean, rule: string): Field<T> {
  return (value, name, refuse) => {
    if (isRight(value)) return value as T;
    return refuse(`${name} ${rule}`) as T;
  };
}

/** Null if the field is missing. */
export function optional<T>(isRight: (value: unknown) => boolean, rule: string): Field<T | null> {
  const read = required<T | undefined>((value) => value === undefined || isRight(value), rule);
  return (...field) => read(...field) ?? null;
}

export function text(maxLength = 256): Field<string | null> {
  return optional(
    (value) =>
      typeof value === "string" && value !== "" && value.length <= maxLength && !value.includes("\0"),
    `is text of 1 to ${maxLength} characters.`,
  );
}

export function oneOf<T extends string>(allowed: readonly T[]): Field<T | null> {
  return optional((value) => allowed.includes(value as T), `is one of ${allowed.join(", ")}.`);
}

export function integer(least: number, most: number): Field<number | null> {
  return optional(
    (value) => isWholeNumber(value, least, most),
    `is a whole number from ${least} to ${most}.`,
  );
}

export const boolean: Field<boolean | null> = optional(
  (value) => typeof value === "boolean",
  "is true or false.",
);

export function id(kind: IdKind): Field<Uuid | null> {
  const read = optional<string>(
    (value) => typeof value === "string" && parseId(kind, value) !== null,
    `is an id such as ${kind}_0198c2f0-….`,
  );
  return (...field) => parseId(kind, String(read(...field)));
}

/** A field that is checked later, or not at all. */
export function unchecked<T>(): Field<T | null> {
  return optional<T>(() => true, "");
}

export function isWholeNumber(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}
