// A reader for each setting of an endpoint.
import {
  DEFAULT_HEADER_PREFIX,
  definitionOf,
  endpointSettings,
  envelopeNameProblems,
  escapePointer,
  headerPrefixProblem,
  hostOf,
  isObject,
  ownTypeOf,
  type SettingName,
  type Shape,
  schemeHeaders,
  schemeProblems,
  validateCustomHeaders,
} from "@posthorn/wire";
import { checkUrl } from "../../attempt/guard/check-url.ts";
import { REDACTED } from "../../catalogue/redact.ts";
import { AUTHORIZATION_HEADER } from "../../destinations/webhook/authorize.ts";
import { parseFilter } from "../../fan-out/parse-filter.ts";
import type { AuthorizationType, FilterInput, SignatureSettings } from "../../model.ts";
import { normaliseRetryPolicy } from "../../settle/retry-policy-input.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";
import { boolean, type Field, integer, oneOf, type Refuse, required } from "../read-fields.ts";
import { readAuthorization } from "./authorization-settings.ts";
import { readHandshake } from "./handshake-settings.ts";
import type { SettingsContext } from "./settings.ts";
import { refuseUnknownFields } from "./settings-check.ts";

export interface ReadContext extends SettingsContext {
  readonly current: EndpointSettings;
  /** The settings before this one, in the order of their definitions. */
  readonly read: Partial<Record<SettingName, unknown>>;
}

type SettingReader = (value: unknown, refuse: Refuse, context: ReadContext) => unknown;

/** Readers of settings that need more checks than those of their kind. */
const READERS: Partial<Record<SettingName, SettingReader>> = {
  url: readUrl,
  name: readName,
  events: readEvents,
  filter: readFilter,
  envelopeFields: readEnvelopeFields,
  signature: readSignature,
  authorization: (value, refuse, { current }) => readAuthorization(value, refuse, current.authorization),
  userAgent: (value, refuse) => (isUserAgent(value) ? value : refuse(USER_AGENT_RULE)),
  headers: readHeaders,
  handshake: readHandshake,
  retryPolicy: (value, refuse) => {
    try {
      return normaliseRetryPolicy(value);
    } catch (error) {
      return refuse((error as Error).message);
    }
  },
};

export function readerOf(name: SettingName, context: ReadContext): Field<unknown> {
  const setting = definitionOf(name);
  const own = READERS[name];
  const field: Field<unknown> = own ? (value, _, refuse) => own(value, refuse, context) : fieldOf(setting);
  return setting.isRequired || setting.isNeverNull ? field : orNull(field);
}

function fieldOf(shape: Shape): Field<unknown> {
  switch (shape.kind) {
    case "text":
      return textUpTo(shape.maxLength);
    case "boolean":
      return boolean;
    case "integer":
      return integer(shape.min, shape.max);
    case "choice":
      return oneOf(shape.values);
    case "object":
      return objectOf(shape.fields);
    default:
      throw new Error(`A ${shape.kind} needs its own reader.`);
  }
}

function textUpTo(maxLength = Number.POSITIVE_INFINITY): Field<string> {
  return required(
    (value) => typeof value === "string" && value.length <= maxLength && !value.includes("\0"),
    `is text of at most ${maxLength} characters.`,
  );
}

export function orNull<T>(field: Field<T>): Field<T | null> {
  return (value, ...rest) => (value === null ? null : field(value, ...rest));
}

function objectOf(fields: Readonly<Record<string, Shape>>): Field<object | undefined> {
  const known = Object.keys(fields);
  return (value, name, refuse) => {
    if (!isObject(value)) return refuse(`${name} is an object with ${known.join(", ")}.`);
    refuseUnknownFields(`A ${name} has no`, value, known, refuse);
    const read = known
      .filter((field) => value[field] !== undefined)
      .map((field) => {
        const refuseField: Refuse = (message, below = "") => refuse(message, `/${field}${below}`);
        return [field, fieldOf(fields[field] as Shape)(value[field], field, refuseField)];
      });
    return Object.fromEntries(read);
  };
}

function readUrl(
  value: unknown,
  refuse: Refuse,
  { addressPolicy, hosts, current }: ReadContext,
): string | undefined {
  if (typeof value !== "string") return refuse("The URL is a text such as https://example.com/webhooks.");
  if (value.endsWith(`?${REDACTED}`)) return refuse(MASKED);
  const checked = checkUrl(value, addressPolicy);
  if (!checked.ok) return refuse(checked.problem.message);
  // an empty query is not sent, so a signature over the URL must not contain it
  const href = checked.href.replace(/^([^?]*)\?$/, "$1");
  // the name of a URL that the endpoint already has may lead elsewhere by now; its attempts report that
  const problem = href === current.url ? null : hosts.problemOf(href);
  return problem === null ? href : refuse(problem);
}

const MASKED = `${REDACTED} is a placeholder for a value that your key may not read. Give the real value, or leave the field out.`;

const MAX_NAME_LENGTH = endpointSettings.name.maxLength;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** A name that is the host is not stored, so that settings which were read and are written back do not fix it. */
function readName(value: unknown, refuse: Refuse, { current, read }: ReadContext): string | null | undefined {
  const name = typeof value === "string" ? value.trim() : "";
  if (name === "" || name.length > MAX_NAME_LENGTH || CONTROL.test(name)) {
    return refuse(
      `name is text of 1 to ${MAX_NAME_LENGTH} characters without line breaks or other control characters. Null shows the host of the URL.`,
    );
  }
  const hosts = [hostOf(String(read.url ?? "")), ...(current.name === null ? [hostOf(current.url)] : [])];
  return hosts.includes(name) ? null : name;
}

const { minItems, maxItems } = endpointSettings.events;
const PATTERN = /^(?:\*|[a-z0-9_]+(?:\.[a-z0-9_]+)*(?:\.\*)?)$/;

function readEvents(
  value: unknown,
  refuse: Refuse,
  { current, typeProblem }: ReadContext,
): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) {
    return refuse(
      `events is a list of ${minItems} to ${maxItems} event types, such as ["order.paid", "invoice.*"], or ["*"].`,
    );
  }
  for (const [index, item] of value.entries()) {
    if (typeof item === "string" && item.length <= 130 && PATTERN.test(item)) {
      // a type that the endpoint already has may have been deleted from the catalogue
      const problem = item.endsWith("*") || current.events.includes(item) ? null : typeProblem(item);
      if (problem !== null) refuse(problem, `/${index}`);
      continue;
    }
    const shown = typeof item === "string" ? `"${item.slice(0, 60)}"` : "This";
    refuse(
      `${shown} is not an event type. Write lower-case words joined by dots (order.paid), a prefix (order.*), or *.${meantType(item)}`,
      `/${index}`,
    );
  }
  return [...new Set(value as string[])];
}

/** CloudEvents may have other characters in their types; suggests the type that such an event is stored with. */
function meantType(item: unknown): string {
  if (typeof item !== "string" || item.length > 130) return "";
  const type = item.endsWith(".*") ? item.slice(0, -2) : item;
  const meant = `${ownTypeOf(type)}${item.slice(type.length)}`;
  return type.includes("*") || !/[a-z0-9]/.test(meant) ? "" : ` Did you mean ${meant}?`;
}

function readSignature(
  value: unknown,
  refuse: Refuse,
  { defaults }: ReadContext,
): Partial<SignatureSettings> | undefined {
  if (!isObject(value)) return refuse("signature is an object with schemes, headerPrefix or both.");
  const { schemes, headerPrefix, ...unknown } = value;
  refuseUnknownFields("A signature has no", unknown, ["schemes", "headerPrefix"], refuse);
  const problem =
    headerPrefix === undefined || typeof headerPrefix === "string"
      ? headerPrefixProblem(headerPrefix ?? DEFAULT_HEADER_PREFIX)
      : "headerPrefix is text such as X-Webhook.";
  if (problem !== null) refuse(problem, "/headerPrefix");
  // those that apply, so that a message names the header that is sent
  const effective = { ...defaults.signature, ...value } as Readonly<Record<string, unknown>>;
  const isList =
    Array.isArray(effective.schemes) && effective.schemes.every((name) => typeof name === "string");
  const prefix = problem === null ? (effective.headerPrefix as string | undefined) : undefined;
  const wrong = isList
    ? schemeProblems(effective.schemes as string[], prefix)
    : ["schemes is a list of names of signature schemes."];
  for (const message of effective.schemes === undefined ? [] : wrong)
    refuse(message, schemes === undefined ? "/headerPrefix" : "/schemes");
  return {
    ...(schemes === undefined ? {} : { schemes: schemes as string[] }),
    ...(headerPrefix === undefined ? {} : { headerPrefix: headerPrefix as string }),
  };
}

function readEnvelopeFields(value: unknown, refuse: Refuse): Readonly<Record<string, string>> | undefined {
  if (!isObject(value))
    return refuse(
      'envelopeFields is an object of fields and their names, such as { "tenant_id": "team_id" }.',
    );
  for (const { field, message } of envelopeNameProblems(value))
    refuse(message, `/${escapePointer(field.slice(0, 100))}`);
  return value as Record<string, string>;
}

function isUserAgent(value: unknown): value is string {
  return typeof value === "string" && /^[\x20-\x7e]{1,256}$/.test(value);
}

const USER_AGENT_RULE = "A user agent has 1 to 256 printable ASCII characters.";

function readHeaders(
  value: unknown,
  refuse: Refuse,
  { read, defaults }: ReadContext,
): Readonly<Record<string, string>> | undefined {
  if (!isObject(value))
    return refuse('headers is an object of names and values, such as { "X-Team": "billing" }.');
  const signature = { ...defaults.signature, ...(read.signature as Partial<SignatureSettings> | null) };
  const { schemes, headerPrefix } = signature;
  const authorization = read.authorization as AuthorizationType | null;
  const taken = new Set(schemeHeaders(schemes, headerPrefix));
  if (authorization !== null) taken.add(AUTHORIZATION_HEADER[authorization]);
  for (const { header, message } of validateCustomHeaders(value, headerPrefix, taken)) {
    refuse(message, header === "" ? "" : `/${escapePointer(header.slice(0, 100))}`);
  }
  for (const [name, text] of Object.entries(value)) {
    if (text === REDACTED) refuse(MASKED, `/${escapePointer(name.slice(0, 100))}`);
  }
  return value as Record<string, string>;
}

function readFilter(value: unknown, refuse: Refuse): FilterInput | undefined {
  const parsed = parseFilter(value);
  if (parsed.ok) return value as FilterInput;
  for (const { pointer, message } of parsed.problems) refuse(message, pointer);
  return undefined;
}
