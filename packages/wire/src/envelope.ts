// The body of a delivery: an event's metadata around its data, whose bytes are passed on unchanged.
import { didYouMean } from "./did-you-mean.ts";
import { concat } from "./encoding.ts";
import { type EventAttributes, inOneOrder } from "./event-attributes.ts";
import { formatId } from "./ids.ts";

export interface EnvelopeFields {
  /** The bare UUID; `evt_` is added here. */
  readonly id: string;
  readonly type: string;
  readonly apiVersion: string;
  /** When the event was recorded, not when it is sent: the bytes are the same on every attempt. */
  readonly createdAt: Date;
  readonly tenant: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** The JSON of `data`. Never parsed: 1.0, large integers, key order and escapes are preserved. */
  readonly payload: Uint8Array;
  /** Set for imported events: how to read the data, and their original attributes. */
  readonly attributes?: EventAttributes | undefined;
}

export const ENVELOPE_FIELDS = [
  "id",
  "type",
  "api_version",
  "created_at",
  "tenant_id",
  "subject",
  "sequence",
  "attributes",
  "data",
] as const;
export type EnvelopeField = (typeof ENVELOPE_FIELDS)[number];

/** Other names of fields, by their own: `{ tenant_id: "team_id" }`. */
export type EnvelopeNames = Readonly<Partial<Record<EnvelopeField, string>>>;

export interface EnvelopeNameProblem {
  readonly field: string;
  readonly message: string;
}

/** All problems with names of envelope fields, as sentences. */
export function envelopeNameProblems(names: Readonly<Record<string, unknown>>): EnvelopeNameProblem[] {
  const problems: EnvelopeNameProblem[] = [];
  const used = new Map<unknown, string>(
    ENVELOPE_FIELDS.filter((field) => names[field] === undefined).map((field) => [field, field]),
  );
  for (const [field, name] of Object.entries(names)) {
    const refuse = (message: string) => problems.push({ field, message });
    const other = used.get(name);
    if (!ENVELOPE_FIELDS.some((known) => known === field))
      refuse(`The envelope has no field "${field.slice(0, 60)}". ${didYouMean(field, ENVELOPE_FIELDS)}`);
    else if (typeof name !== "string" || !FIELD_NAME.test(name))
      refuse(
        `The name of ${field} has 1 to 64 letters, digits, hyphens and underscores, such as team_id, and is not __proto__.`,
      );
    else if (other !== undefined)
      refuse(`The envelope would have "${name}" twice, for ${other} and ${field}. Choose another name.`);
    else used.set(name, field);
  }
  return problems;
}

/** A receiver that copies the fields would set its object's prototype. */
const FIELD_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

type Keys = Readonly<Record<EnvelopeField, string>>;

const keysOf = (names: EnvelopeNames): Keys =>
  Object.fromEntries(
    ENVELOPE_FIELDS.map((field) => [field, JSON.stringify(names[field] ?? field)]),
  ) as unknown as Keys;
const DEFAULT_NAMES: EnvelopeNames = {};
const DEFAULT_KEYS = keysOf(DEFAULT_NAMES);
/** By the object, which an endpoint keeps while its settings stay the same. */
const knownKeys = new WeakMap<EnvelopeNames, Keys>();

function keysFor(names: EnvelopeNames): Keys {
  if (names === DEFAULT_NAMES) return DEFAULT_KEYS;
  let keys = knownKeys.get(names);
  if (keys === undefined) {
    keys = keysOf(names);
    knownKeys.set(names, keys);
  }
  return keys;
}

const encoder = new TextEncoder();
const CLOSING_BRACE = 0x7d;

/** The same event gives the same bytes. 2.4 µs for 1 KB of data (Node 20.20, one EPYC core). */
export function envelope(
  event: EnvelopeFields,
  names: EnvelopeNames = DEFAULT_NAMES,
): Uint8Array<ArrayBuffer> {
  const keys = keysFor(names);
  const head = `${headOf(event, keys)},${keys.data}:`;
  const { payload } = event;
  // Nearly every head is ASCII, so its length in bytes is known and it is written in place.
  const bytes = new Uint8Array(head.length + payload.length + 1);
  const { read, written } = encoder.encodeInto(head, bytes);
  if (read !== head.length || written !== read) return concat([head, payload, "}"]);
  bytes.set(payload, written);
  bytes[bytes.length - 1] = CLOSING_BRACE;
  return bytes;
}

/** Type and subject without the data: the receiver fetches the current state. */
export function thinEnvelope(
  { id, type, subject }: Pick<EnvelopeFields, "id" | "type" | "subject">,
  names: EnvelopeNames = DEFAULT_NAMES,
) {
  const keys = keysFor(names);
  const last = subject === null ? "" : `,${keys.subject}:${JSON.stringify(subject)}`;
  return encoder.encode(`{${keys.id}:"${formatId("evt", id)}",${keys.type}:${JSON.stringify(type)}${last}}`);
}

function headOf(event: EnvelopeFields, keys: Keys): string {
  const id = formatId("evt", event.id);
  const subject = event.subject === null ? "" : `,${keys.subject}:${JSON.stringify(event.subject)}`;
  const sequence = event.sequence === null ? "" : `,${keys.sequence}:${event.sequence}`;
  const attributes =
    event.attributes === undefined
      ? ""
      : `,${keys.attributes}:${JSON.stringify(inOneOrder(event.attributes))}`;
  return (
    `{${keys.id}:"${id}",${keys.type}:${JSON.stringify(event.type)}` +
    `,${keys.api_version}:${JSON.stringify(event.apiVersion)}` +
    `,${keys.created_at}:"${event.createdAt.toISOString()}",${keys.tenant_id}:${JSON.stringify(event.tenant)}` +
    `${subject}${sequence}${attributes}`
  );
}
