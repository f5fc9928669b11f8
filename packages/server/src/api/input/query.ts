// Reads the parameters of a URL by a table, as bodies are read: unknown ones are refused with a suggestion.
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

export const wholeNumber = (to: string, min: number, max: number): Parameter => ({
  to,
  read: (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  },
  expected: `a whole number from ${min} to ${max}`,
});

/** Every list has these. */
const PAGE = { limit: wholeNumber("limit", 1, MAX_LIMIT), cursor: text("cursor") };

export type Parameters = Readonly<Record<string, Parameter>>;

export function readListQuery(exchange: Exchange, filters: Parameters = {}): Record<string, unknown> {
  return { limit: DEFAULT_LIMIT, ...readQuery(exchange, { ...filters, ...PAGE }) };
}

/** What is given, under the library's names. */
export function readQuery(
  { query }: Pick<Exchange, "query">,
  parameters: Parameters,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
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
  parameters: Parameters,
  values: Record<string, unknown>,
  seen: Set<string>,
): string | null {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (!parameter) return unknownParameter(name.slice(0, 100), Object.keys(parameters));
  if (seen.has(name)) return `"${name}" is given twice. Give it once.`;
  seen.add(name);
  const read = parameter.read(value);
  if (read === undefined) return `"${name}" must be ${parameter.expected}.`;
  values[parameter.to] = read;
  return null;
}

function unknownParameter(name: string, known: readonly string[]): string {
  const hint = known.length === 0 ? "This address takes none." : didYouMean(name, known);
  return `"${name}" is not a parameter here. ${hint}`;
}
