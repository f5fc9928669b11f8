// Reads the parameters of a list by a table, as bodies are read: unknown ones are refused with a suggestion.
import { didYouMean } from "posthorn/internal";
import type { Exchange } from "../exchange.ts";
import { HttpError, type ProblemPlace } from "../http-error.ts";

export interface Parameter {
  /** The library's name of it. */
  readonly to: string;
  /** Undefined when the text cannot be read. */
  readonly read: (text: string) => unknown;
  readonly expected: string;
}

export const MAX_LIMIT = 250;
const DEFAULT_LIMIT = 50;

export const text = (to: string): Parameter => ({
  to,
  read: (value) => value || undefined,
  expected: "some text",
});

export const time = (to: string): Parameter => ({
  to,
  read: (value) => {
    const date = new Date(value);
    return ISO_TIME.test(value) && !Number.isNaN(date.getTime()) ? date : undefined;
  },
  expected: "a time such as 2026-11-15T09:30:00Z",
});

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const limit: Parameter = {
  to: "limit",
  read: (value) =>
    /^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_LIMIT ? Number(value) : undefined,
  expected: `a whole number from 1 to ${MAX_LIMIT}`,
};

/** Every list has these. */
const PAGE = { limit, cursor: text("cursor") };

export function readListQuery(
  { query }: Exchange,
  filters: Readonly<Record<string, Parameter>> = {},
): Record<string, unknown> {
  const parameters: Readonly<Record<string, Parameter>> = { ...filters, ...PAGE };
  const values: Record<string, unknown> = { limit: DEFAULT_LIMIT };
  const problems: ProblemPlace[] = [];
  const seen = new Set<string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const problem = readParameter(name, value, parameters, values, seen);
    if (problem) problems.push({ parameter: name.slice(0, 100), message: problem });
  }
  const [first] = problems;
  if (first) throw new HttpError("invalid_parameter", first.message, { places: problems });
  return values;
}

function readParameter(
  name: string,
  value: string,
  parameters: Readonly<Record<string, Parameter>>,
  values: Record<string, unknown>,
  seen: Set<string>,
): string | null {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (!parameter) {
    const hint = didYouMean(name, Object.keys(parameters));
    return `"${name.slice(0, 100)}" is not a parameter here. ${hint}`;
  }
  if (seen.has(name)) return `"${name}" is given twice. Give it once.`;
  seen.add(name);
  const read = parameter.read(value);
  if (read === undefined) return `"${name}" must be ${parameter.expected}.`;
  values[parameter.to] = read;
  return null;
}
