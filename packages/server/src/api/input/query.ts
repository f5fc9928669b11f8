// Reads query parameters by a schema. Unknown ones are rejected with a suggestion.
import { didYouMean } from "@posthorn/wire";
import { z } from "zod";
import { type FieldError, HttpError } from "../http-error.ts";
import { describeIssue, PROBLEM_LIMIT, unwrapped } from "./issues.ts";

/** Schema of a route without parameters. */
export const NO_PARAMETERS = z.object({});

/** `query` is the part of the URL after the question mark. */
export function readQuery<Schema extends z.ZodObject>(query: string, schema: Schema): z.output<Schema> {
  const given: Record<string, unknown> = {};
  const problems: FieldError[] = [];
  for (const [name, value] of new URLSearchParams(query)) {
    if (problems.length >= PROBLEM_LIMIT) break;
    const problem = take(name, value, schema, given);
    if (problem !== null) problems.push({ parameter: name.slice(0, 100), message: problem });
  }
  const result = schema.safeParse(given);
  for (const issue of result.success ? [] : result.error.issues) {
    const [name = ""] = issue.path;
    const at = String(name);
    const field = schema.shape[at];
    problems.push({
      parameter: at,
      message: `"${at}" ${(field && rangeOf(field)) ?? describeIssue(issue)}.`,
    });
  }
  const [first] = problems;
  if (first) throw new HttpError("invalid_parameter", first.message, { fieldErrors: problems });
  return result.data as z.output<Schema>;
}

function take(
  name: string,
  value: string,
  schema: z.ZodObject,
  given: Record<string, unknown>,
): string | null {
  const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  if (field === undefined) return unknownParameter(name.slice(0, 100), Object.keys(schema.shape));
  if (Object.hasOwn(given, name)) return `"${name}" is given twice. Give it once.`;
  given[name] = decoded(value, field);
  return null;
}

/** Converts text to the number, boolean or list that the schema expects; anything else is left for the schema to reject. */
function decoded(value: string, field: z.core.$ZodType): unknown {
  const bare = unwrapped(field);
  if (bare instanceof z.ZodNumber) return /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (bare instanceof z.ZodBoolean) return value === "true" || (value === "false" ? false : value);
  if (bare instanceof z.ZodArray) return value.split(",");
  return value;
}

function rangeOf(field: z.core.$ZodType): string | null {
  const bare = unwrapped(field);
  return bare instanceof z.ZodNumber
    ? `must be a whole number from ${bare.minValue} to ${bare.maxValue}`
    : null;
}

function unknownParameter(name: string, known: readonly string[]): string {
  const hint = known.length === 0 ? "This route has no parameters." : didYouMean(name, known);
  return `"${name}" is not a parameter here. ${hint}`;
}
