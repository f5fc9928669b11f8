// Validates attributes by the rules of CloudEvents 1.0.2. It is strict, because a lenient and a strict parser could read
// different events from the same bytes.
import { isTime } from "./time.ts";
import { isAbsoluteUri, isUriReference } from "./uri-reference.ts";

export interface AttributeProblem {
  readonly name: string;
  readonly message: string;
}

export const REQUIRED_ATTRIBUTES = ["id", "source", "type", "specversion"] as const;

/** All problems of one event's attributes; an absent attribute may be undefined. */
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
  if (isText(source) && !isUriReference(source)) wrong("source", "Its source is not a URI reference.");
  if (subject !== undefined && !isText(subject)) wrong("subject", "Its subject is empty.");
  if (time !== undefined && !isTime(time))
    wrong("time", "Its time is not in RFC 3339 format, for example 2026-11-16T08:00:00Z.");
  if (dataschema !== undefined && !(isText(dataschema) && isAbsoluteUri(dataschema)))
    wrong("dataschema", "Its dataschema is not an absolute URI.");
  if (datacontenttype !== undefined && !(isText(datacontenttype) && MEDIA_TYPE.test(datacontenttype)))
    wrong("datacontenttype", "Its datacontenttype is not a media type.");
  return problems;
}

/** Returns the problem as a sentence, or null for a valid attribute name. */
function nameProblem(name: string): string | null {
  if (name === "data") return 'An attribute cannot be called "data".';
  return NAME.test(name) ? null : `"${name.slice(0, 60)}" is not an attribute name: a-z and 0-9 only.`;
}

/** A value must be a boolean, a 32-bit integer, or a string without forbidden characters. */
function valueProblem(name: string, value: unknown): string | null {
  if (isOverlong(value)) return `The attribute ${name} has more than ${MAX_VALUE_LENGTH} characters.`;
  if (!isScalar(value)) return `The attribute ${name} is not a string, a 32-bit integer or a boolean.`;
  return typeof value === "string" && FORBIDDEN.test(value)
    ? `The attribute ${name} has a forbidden character.`
    : null;
}

/** 64 KiB, the event size that all intermediaries must forward. Patterns overflow the stack at a few million characters. */
const MAX_VALUE_LENGTH = 64 * 1024;

function isOverlong(value: unknown): boolean {
  return typeof value === "string" && value.length > MAX_VALUE_LENGTH;
}

/** Overlong values are reported without further checks. */
function withoutOverlong(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => !isOverlong(value)));
}

const NAME = /^[a-z0-9]+$/;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])*"';
// RFC 9110 §8.3.1. A run of spaces must match in only one way: with two, 60 KB of spaces took 3.6 s.
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
