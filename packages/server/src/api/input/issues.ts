// Turns the issues of a Zod schema into field errors with plain messages.
import { didYouMean, escapePointer } from "@posthorn/wire";
import { MAX_PROBLEMS } from "posthorn/internal";
import { z } from "zod";
import type { FieldError } from "../http-error.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** One more than is reported, so that the message can say that there are more. */
export const PROBLEM_LIMIT = MAX_PROBLEMS + 1;

/** `shown` are the fields of the response: a read-only field that is sent back gets its own message. */
export function fieldErrors(
  schema: z.ZodType,
  issues: readonly Issue[],
  shown: readonly string[],
  base: Path = [],
): FieldError[] {
  return issues
    .slice(0, PROBLEM_LIMIT)
    .flatMap((issue) => issueErrors(schema, issue, shown, [...base, ...issue.path]))
    .slice(0, PROBLEM_LIMIT);
}

function issueErrors(schema: z.ZodType, issue: Issue, shown: readonly string[], path: Path): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    const known = fieldsAt(schema, path);
    const readOnly = path.length === 0 ? shown.filter((name) => !known.includes(name)) : [];
    return issue.keys.slice(0, PROBLEM_LIMIT).map((key) => ({
      pointer: pointerTo([...path, key]),
      message: readOnly.includes(key) ? readOnlyField(key, readOnly) : unknownField(key, known),
    }));
  }
  if (issue.code === "invalid_union") {
    const branch = intendedBranch(issue.errors);
    if (branch !== null) return fieldErrors(schema, branch, shown, path);
  }
  return [{ pointer: pointerTo(path), message: `This ${describeIssue(issue)}.` }];
}

/** Returns the only alternative of a union that matched at least the outermost type. */
function intendedBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const inside = branches.filter((issues) =>
    issues.some(({ path, code }) => path.length > 0 || code === "unrecognized_keys"),
  );
  return inside.length === 1 ? (inside[0] ?? null) : null;
}

export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined && issue.path.length > 0 && isMissing(issue)
        ? "field is required"
        : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_union":
      return `must be ${[...new Set(issue.errors.flatMap(([first]) => (first ? [expectedOf(first)] : [])))].join(" or ")}`;
    case "invalid_format":
      if (issue.format === "datetime") return "must be a time with a time zone, such as 2027-01-01T00:00:00Z";
      return issue.message.startsWith("must ") ? issue.message : "is not valid";
    default:
      return issue.message.startsWith("must ") ? issue.message : "is not valid";
  }
}

/** Zod does not include the value in an issue; only the message says that it is missing. */
function isMissing(issue: Issue): boolean {
  return issue.message.endsWith("received undefined");
}

const expectedOf = (issue: Issue): string => describeIssue(issue).replace(/^must be /, "");

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "a JSON object",
  record: "a JSON object",
};

export function unknownField(name: string, known: readonly string[]): string {
  const what = `"${name.slice(0, SHOWN_LENGTH)}" is not a field`;
  return known.length === 0 ? `${what}: this takes no fields.` : `${what}. ${didYouMean(name, known)}`;
}

function readOnlyField(name: string, readOnly: readonly string[]): string {
  return `"${name}" is read-only. Remove the read-only fields: ${readOnly.join(", ")}.`;
}

/** Names from the request are cut to this length in messages. */
const SHOWN_LENGTH = 100;

export function pointerTo(path: Path): string {
  return path.map((part) => `/${escapePointer(String(part).slice(0, SHOWN_LENGTH))}`).join("");
}

/** Returns the field names of the object at a path of the schema. */
export function fieldsAt(schema: z.core.$ZodType, path: Path): string[] {
  const bare = unwrapped(schema);
  const [head, ...rest] = path;
  if (bare instanceof z.ZodUnion) {
    for (const option of bare.options) {
      const found = fieldsAt(option, path);
      if (found.length > 0) return found;
    }
    return [];
  }
  if (head === undefined) return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
  if (bare instanceof z.ZodArray) return fieldsAt(bare.element, rest);
  const next = bare instanceof z.ZodObject ? bare.shape[String(head)] : undefined;
  return next ? fieldsAt(next, rest) : [];
}

export function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? unwrapped(schema.def.innerType) : schema;
}
