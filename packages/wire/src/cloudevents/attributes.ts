// What CloudEvents 1.0.2 says of attributes, rule by rule. Strict, since a lenient reader and a strict one may see two
// different events in the same bytes.
import { isTime } from "./time.ts";
import { isAbsoluteUri, isUriReference } from "./uri-reference.ts";

export interface AttributeProblem {
  readonly name: string;
  readonly message: string;
}

export const REQUIRED_ATTRIBUTES = ["id", "source", "type", "specversion"] as const;

/** Everything wrong with the attributes of one event; absent ones are undefined or not there. */
export function attributeProblems(attributes: Readonly<Record<string, unknown>>): AttributeProblem[] {
  const problems: AttributeProblem[] = [];
  const wrong = (name: string, message: string): void => {
    problems.push({ name, message });
  };
  for (const name of REQUIRED_ATTRIBUTES) {
    if (typeof attributes[name] !== "string" || attributes[name] === "") wrong(name, `It has no ${name}.`);
  }
  const { source, specversion, subject, time, dataschema, datacontenttype } = withoutOverlong(attributes);
  if (isText(specversion) && specversion !== "1.0") wrong("specversion", "Its specversion is not 1.0.");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const problem = nameProblem(name) ?? valueProblem(name, value);
    if (problem !== null) wrong(name, problem);
  }
  if (isText(source) && !isUriReference(source)) wrong("source", "Its source is no URI reference.");
  if (subject !== undefined && !isText(subject)) wrong("subject", "Its subject is empty.");
  if (time !== undefined && !isTime(time))
    wrong("time", "Its time is not as RFC 3339 has it, such as 2026-11-16T08:00:00Z.");
  if (dataschema !== undefined && !(isText(dataschema) && isAbsoluteUri(dataschema)))
    wrong("dataschema", "Its dataschema is no absolute URI.");
  if (datacontenttype !== undefined && !(isText(datacontenttype) && MEDIA_TYPE.test(datacontenttype)))
    wrong("datacontenttype", "Its datacontenttype is no media type.");
  return problems;
}

/** In plain words, or null for a name that an attribute may have. */
export function nameProblem(name: string): string | null {
  if (name === "data") return 'An attribute cannot be called "data".';
  return NAME.test(name) ? null : `"${name.slice(0, 60)}" is no name of an attribute: a-z and 0-9 only.`;
}

/** A text, a boolean or an integer of 32 bits; texts without what no text may have. */
export function valueProblem(name: string, value: unknown): string | null {
  if (isOverlong(value)) return `The attribute ${name} has more than ${MAX_VALUE_LENGTH} characters.`;
  if (!isScalar(value)) return `The attribute ${name} is not a string, an integer of 32 bits or a boolean.`;
  return typeof value === "string" && FORBIDDEN.test(value)
    ? `The attribute ${name} has a forbidden character.`
    : null;
}

/** As much as everybody must forward of a whole event. Patterns run out of stack at some millions. */
const MAX_VALUE_LENGTH = 64 * 1024;

function isOverlong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_VALUE_LENGTH;
}

/** What is too long is told as that, and looked at no further. */
function withoutOverlong(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => !isOverlong(value)));
}

const NAME = /^[a-z0-9]+$/;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])*"';
// RFC 9110 §8.3.1. A run of spaces can be read in one way only: by two, 60 KB of them took 3.6 s.
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)* *$`);
// CloudEvents §"Type System", String: no control characters, no noncharacters, no lone surrogates
const FORBIDDEN = /\p{Cc}|\p{Noncharacter_Code_Point}|\p{Surrogate}/u;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
  return typeof value === "string" || typeof value === "boolean";
}
