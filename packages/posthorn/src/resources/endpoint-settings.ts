// What may be set on an endpoint: checked field by field, everything wrong with it told at once.
import {
  DEFAULT_HEADER_PREFIX,
  headerPrefixProblem,
  parseSecret,
  schemeNamed,
  schemeProblems,
  signingKeyBytes,
  validateCustomHeaders,
} from "@posthorn/wire";
import { checkUrl } from "../attempt/check-url.ts";
import type { AddressPolicy } from "../attempt/guard-address.ts";
import { REDACTED } from "../catalogue/redact.ts";
import { findUnknown } from "../did-you-mean.ts";
import { type InputProblem, MAX_PROBLEMS, PosthornError } from "../errors.ts";
import { parseFilter } from "../fan-out/parse-filter.ts";
import {
  type BatchSettings,
  type CloudEventsTerms,
  type FifoOnDead,
  type FilterInput,
  type Ordering,
  PAYLOAD_FORMATS,
  type PayloadFormat,
  type RetryOn,
  type RetryPolicy,
  type SignatureSettings,
} from "../model.ts";
import { isRetryPolicy } from "../settle/retry-schedule.ts";
import type { EndpointSettings } from "../storage/queries/endpoints/write.ts";
import { normaliseRetryPolicy, type RetryPolicyInput } from "./retry-policy-input.ts";

export interface EndpointInput {
  readonly url: string;
  /** 1 to 100 of: an exact type, `order.*`, or `*`. */
  readonly events: readonly string[];
  readonly description?: string | null | undefined;
  readonly isActive?: boolean | undefined;
  /** From here on null or nothing means: as the deployment is set, also when that changes. */
  readonly format?: PayloadFormat | null | undefined;
  readonly signature?: Partial<SignatureSettings> | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  readonly timeoutMs?: number | null | undefined;
  readonly maxInFlight?: number | null | undefined;
  /** Attempts per second; null or nothing: no limit. */
  readonly rateLimit?: number | null | undefined;
  readonly retryPolicy?: RetryPolicyInput | null | undefined;
  readonly retryOn?: RetryOn | null | undefined;
  /** `fifo`: one by one in each subject, in the order of the sequences. Null means `none`. */
  readonly ordering?: Ordering | null | undefined;
  /** Of a `fifo` endpoint. Null means `pass`: those after a dead one go on. `hold`: they wait until it is retried. */
  readonly fifoOnDead?: FifoOnDead | null | undefined;
  /** What an event of these types must have to be delivered; null or nothing: every one is. */
  readonly filter?: FilterInput | null | undefined;
  /** Of the format `cloudevents-batch`, in part or whole; null or nothing: 100 events, 512 KiB, one second. */
  readonly batch?: Partial<BatchSettings> | null | undefined;
  /** Your own `whsec_…` or `whsk_…`; one is made when it is left out. */
  readonly secret?: string | undefined;
}

/** A field that is given replaces the whole value; null takes it back to the deployment's setting. */
export type EndpointPatch = Partial<Omit<EndpointInput, "secret">>;

/** The deployment's settings, in force where an endpoint has none of its own. */
export interface EndpointDefaults {
  readonly format: PayloadFormat;
  readonly signature: SignatureSettings;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  readonly rateLimit: number | null;
  readonly retryPolicy: RetryPolicy;
  readonly retryOn: RetryOn;
  /** `source` with `{tenant}` for the tenant's id. */
  readonly cloudEvents: CloudEventsTerms;
}

/** What no deployment sets for its endpoints. */
export interface OwnSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly ordering: Ordering;
  readonly fifoOnDead: FifoOnDead;
  readonly batch: BatchSettings;
}

/** What is in force for an endpoint. */
export function effectiveSettings(
  stored: Omit<EndpointSettings, "url" | "events" | "filter" | "description" | "isActive">,
  defaults: EndpointDefaults,
): Omit<EndpointDefaults, "cloudEvents"> & OwnSettings {
  return {
    // one that a later version wrote has no bytes here
    format: PAYLOAD_FORMATS.find((format) => format === stored.format) ?? defaults.format,
    signature: { ...defaults.signature, ...stored.signature },
    headers: stored.headers ?? {},
    timeoutMs: stored.timeoutMs ?? defaults.timeoutMs,
    maxInFlight: stored.maxInFlight ?? defaults.maxInFlight,
    rateLimit: stored.rateLimit ?? defaults.rateLimit,
    retryPolicy: isRetryPolicy(stored.retryPolicy) ? stored.retryPolicy : defaults.retryPolicy,
    retryOn: stored.retryOn ?? defaults.retryOn,
    ordering: stored.ordering ?? "none",
    fifoOnDead: stored.fifoOnDead ?? "pass",
    batch: { ...DEFAULT_BATCH, ...stored.batch },
  };
}

/** Half of what many receivers take, and no longer than a person would notice. */
export const DEFAULT_BATCH: BatchSettings = { maxEvents: 100, maxBytes: 512 * 1024, maxDelayMs: 1_000 };

export interface SettingsContext {
  readonly addressPolicy: AddressPolicy;
  readonly defaults: EndpointDefaults;
  /** What is wrong with a type that is asked for by its name; null when nothing is. */
  readonly typeProblem: (type: string) => string | null;
}

export function parseEndpointInput(
  input: unknown,
  context: SettingsContext,
): { settings: EndpointSettings; secret: string | null } {
  const check = new Check(input, [...FIELDS, "secret"]);
  const settings = readSettings(check, NEW_ENDPOINT, context);
  check.require("url", "The URL that deliveries are sent to is missing.");
  check.require(
    "events",
    'The event types to deliver are missing. Give a list such as ["order.*"], or ["*"] for all.',
  );
  const secret = check.read("secret", null, readSecret);
  if (secret !== null && check.isClean && !fitsAny(secret, schemesOf(settings, context.defaults))) {
    check.refuse("/secret", "This kind of secret fits none of the endpoint's signature schemes.");
  }
  check.finish("The endpoint cannot be created");
  return { settings, secret };
}

export function parseEndpointPatch(
  patch: unknown,
  current: EndpointSettings,
  context: SettingsContext,
): EndpointSettings {
  const check = new Check(patch, FIELDS);
  const settings = readSettings(check, current, context);
  check.finish("The endpoint cannot be changed");
  return settings;
}

export function schemesOf(
  settings: Pick<EndpointSettings, "signature">,
  defaults: EndpointDefaults,
): readonly string[] {
  return settings.signature?.schemes ?? defaults.signature.schemes;
}

/** Can at least one of these schemes sign with this secret? */
export function fitsAny(secret: string, schemes: readonly string[]): boolean {
  return schemes.some((name) => signingKeyBytes(schemeNamed(name).key, secret) !== null);
}

/** Null when it is a usable secret. */
export function secretProblem(value: unknown): string | null {
  const parsed = typeof value === "string" ? parseSecret(value) : null;
  if (parsed !== null && parsed.kind !== "public") return null;
  return (
    "A secret is whsec_ and the base64 of 24 to 64 bytes, or whsk_ and the base64 of a 32-byte ed25519 seed and its " +
    "public key. Leave it out and one is made."
  );
}

const NEW_ENDPOINT: EndpointSettings = {
  url: "",
  events: [],
  description: null,
  isActive: true,
  format: null,
  signature: null,
  headers: null,
  timeoutMs: null,
  maxInFlight: null,
  rateLimit: null,
  retryPolicy: null,
  retryOn: null,
  ordering: null,
  fifoOnDead: null,
  filter: null,
  batch: null,
};
const FIELDS = Object.keys(NEW_ENDPOINT);
/** What an endpoint shows besides. */
const READ_ONLY = [
  "websub",
  "id",
  "tenant",
  "disabledReason",
  "disabledAt",
  "circuit",
  "health",
  "createdAt",
  "updatedAt",
] as const;
const isReadOnly = (name: string): boolean => READ_ONLY.some((field) => field === name);

/** Of an endpoint as it is shown. */
export type ReadOnlyFields = { readonly [Name in (typeof READ_ONLY)[number]]?: unknown };

export function withoutReadOnly(shown: unknown): unknown {
  if (!isObject(shown)) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !isReadOnly(name)));
}

function readSettings(check: Check, current: EndpointSettings, context: SettingsContext): EndpointSettings {
  const signature = check.read("signature", current.signature, orDefault(readSignature));
  const format = check.read("format", current.format, orDefault(oneOf(PAYLOAD_FORMATS)));
  const ordering = check.read("ordering", current.ordering, orDefault(oneOf(["none", "fifo"])));
  if (ordering === "fifo" && (format ?? context.defaults.format) === "cloudevents-batch") {
    check.refuse(
      "/ordering",
      "Batches may overtake one another when one is retried: fifo goes with every other format.",
    );
  }
  const prefix = signature?.headerPrefix ?? context.defaults.signature.headerPrefix ?? DEFAULT_HEADER_PREFIX;
  return {
    url: check.read("url", current.url, (value, refuse) => readUrl(value, refuse, context.addressPolicy)),
    events: check.read("events", current.events, (value, refuse) =>
      // what it has already may have been deleted from the catalogue since
      readEvents(value, refuse, (type) => (current.events.includes(type) ? null : context.typeProblem(type))),
    ),
    description: check.read("description", current.description, orDefault(readDescription)),
    isActive: check.read("isActive", current.isActive, readBoolean),
    format,
    signature,
    headers: check.read(
      "headers",
      current.headers,
      orDefault((value, refuse) => readHeaders(value, refuse, prefix)),
    ),
    timeoutMs: check.read("timeoutMs", current.timeoutMs, orDefault(wholeNumber(100, 60_000))),
    maxInFlight: check.read("maxInFlight", current.maxInFlight, orDefault(wholeNumber(1, 100))),
    rateLimit: check.read("rateLimit", current.rateLimit, orDefault(wholeNumber(1, 10_000))),
    retryPolicy: check.read("retryPolicy", current.retryPolicy, orDefault(readRetryPolicy)),
    retryOn: check.read("retryOn", current.retryOn, orDefault(oneOf(["transient", "every"]))),
    ordering,
    fifoOnDead: check.read("fifoOnDead", current.fifoOnDead, orDefault(oneOf(["pass", "hold"]))),
    filter: check.read("filter", current.filter, orDefault(readFilter)),
    batch: check.read("batch", current.batch, orDefault(readBatch)),
  };
}

// ── the fields ───────────────────────────────────────────────────────────────────────────────────────────────────

type Refuse = (message: string, below?: string) => undefined;
/** Undefined: refused. */
type Reader<T> = (value: unknown, refuse: Refuse) => T | undefined;

function orDefault<T>(reader: Reader<T>): Reader<T | null> {
  return (value, refuse) => (value === null ? null : reader(value, refuse));
}

function readUrl(value: unknown, refuse: Refuse, policy: AddressPolicy): string | undefined {
  if (typeof value !== "string") return refuse("The URL is a text such as https://example.com/webhooks.");
  if (value.endsWith(`?${REDACTED}`)) return refuse(MASKED);
  const checked = checkUrl(value, policy);
  return checked.ok ? checked.href : refuse(checked.problem.message);
}

const MASKED = `${REDACTED} stands for what the key that read it may not see. Give what it was, or leave the field out.`;

const MAX_PATTERNS = 100;
const PATTERN = /^(?:\*|[a-z0-9_]+(?:\.[a-z0-9_]+)*(?:\.\*)?)$/;

function readEvents(
  value: unknown,
  refuse: Refuse,
  typeProblem: SettingsContext["typeProblem"],
): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_PATTERNS) {
    return refuse(
      `events is a list of 1 to ${MAX_PATTERNS} event types, such as ["order.paid", "invoice.*"], or ["*"].`,
    );
  }
  for (const [index, item] of value.entries()) {
    if (typeof item === "string" && item.length <= 130 && PATTERN.test(item)) {
      const problem = item.endsWith("*") ? null : typeProblem(item);
      if (problem !== null) refuse(problem, `/${index}`);
      continue;
    }
    const shown = typeof item === "string" ? `"${item.slice(0, 60)}"` : "This";
    refuse(
      `${shown} is not an event type. Write lower-case words joined by dots (order.paid), a prefix (order.*), or *.`,
      `/${index}`,
    );
  }
  return [...new Set(value as string[])];
}

function readDescription(value: unknown, refuse: Refuse): string | undefined {
  if (typeof value === "string" && value.length <= 500 && !value.includes("\0")) return value;
  return refuse("description is text of at most 500 characters.");
}

function readBoolean(value: unknown, refuse: Refuse): boolean | undefined {
  return typeof value === "boolean" ? value : refuse("isActive is true or false.");
}

function oneOf<const T extends string>(allowed: readonly T[]): Reader<T> {
  return (value, refuse) => {
    const found = allowed.find((item) => item === value);
    return found ?? refuse(`Choose one of ${allowed.join(", ")}.`);
  };
}

function wholeNumber(min: number, max: number): Reader<number> {
  return (value, refuse) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? value
      : refuse(`This is a whole number from ${min} to ${max}.`);
}

function readSignature(value: unknown, refuse: Refuse): Partial<SignatureSettings> | undefined {
  if (!isObject(value)) return refuse("signature is an object with schemes, headerPrefix or both.");
  const { schemes, headerPrefix, ...unknown } = value;
  const problems: InputProblem[] = [];
  findUnknown("A signature has no", unknown, ["schemes", "headerPrefix"], problems);
  for (const { message, pointer } of problems) refuse(message, pointer);
  if (schemes !== undefined) {
    const isList = Array.isArray(schemes) && schemes.every((name) => typeof name === "string");
    const wrong = isList ? schemeProblems(schemes) : ["schemes is a list of names of signature schemes."];
    for (const message of wrong) refuse(message, "/schemes");
  }
  if (headerPrefix !== undefined) {
    const problem =
      typeof headerPrefix === "string"
        ? headerPrefixProblem(headerPrefix)
        : "headerPrefix is text such as X-Webhook.";
    if (problem !== null) refuse(problem, "/headerPrefix");
  }
  return {
    ...(schemes === undefined ? {} : { schemes: schemes as string[] }),
    ...(headerPrefix === undefined ? {} : { headerPrefix: headerPrefix as string }),
  };
}

const BATCH_LIMITS: Readonly<Record<keyof BatchSettings, Reader<number>>> = {
  maxEvents: wholeNumber(1, 1_000),
  maxBytes: wholeNumber(1_024, 4 * 1024 * 1024),
  maxDelayMs: wholeNumber(10, 3_600_000),
};

function readBatch(value: unknown, refuse: Refuse): Partial<BatchSettings> | undefined {
  if (!isObject(value)) return refuse("batch is an object with maxEvents, maxBytes, maxDelayMs.");
  const problems: InputProblem[] = [];
  findUnknown("A batch has no", value, Object.keys(BATCH_LIMITS), problems);
  for (const { message, pointer } of problems) refuse(message, pointer);
  const read: Partial<Record<keyof BatchSettings, number>> = {};
  for (const [name, limit] of Object.entries(BATCH_LIMITS) as [keyof BatchSettings, Reader<number>][]) {
    if (value[name] === undefined) continue;
    const number = limit(value[name], (message) => refuse(message, `/${name}`));
    if (number !== undefined) read[name] = number;
  }
  return read;
}

function readHeaders(
  value: unknown,
  refuse: Refuse,
  prefix: string,
): Readonly<Record<string, string>> | undefined {
  if (!isObject(value))
    return refuse('headers is an object of names and values, such as { "X-Team": "billing" }.');
  for (const { header, message } of validateCustomHeaders(value, prefix)) {
    refuse(message, header === "" ? "" : `/${escapePointer(header)}`);
  }
  for (const [name, text] of Object.entries(value)) {
    if (text === REDACTED) refuse(MASKED, `/${escapePointer(name)}`);
  }
  return value as Record<string, string>;
}

function readRetryPolicy(value: unknown, refuse: Refuse): RetryPolicy | undefined {
  try {
    return normaliseRetryPolicy(value);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function readFilter(value: unknown, refuse: Refuse): FilterInput | undefined {
  const parsed = parseFilter(value);
  if (parsed.ok) return value as FilterInput;
  for (const { pointer, message } of parsed.problems) refuse(message, pointer);
  return undefined;
}

function readSecret(value: unknown, refuse: Refuse): string | undefined {
  const problem = secretProblem(value);
  return problem === null ? (value as string) : refuse(problem);
}

// ── collecting ───────────────────────────────────────────────────────────────────────────────────────────────────

class Check {
  readonly #input: Readonly<Record<string, unknown>>;
  readonly #problems: InputProblem[] = [];

  constructor(input: unknown, known: readonly string[]) {
    this.#input = isObject(input) ? input : {};
    if (!isObject(input)) this.refuse("", "Give an object with the endpoint's settings.");
    const given = Object.entries(this.#input);
    const others = given.filter(([name]) => !isReadOnly(name));
    findUnknown("An endpoint has no setting", Object.fromEntries(others), known, this.#problems);
    for (const [name] of given) {
      if (isReadOnly(name)) this.refuse(`/${name}`, "This is read-only. Leave it out.");
    }
  }

  get isClean(): boolean {
    return this.#problems.length === 0;
  }

  /** A field that is not given, or undefined, stays as it is. */
  read<T>(field: string, current: T, reader: Reader<T>): T {
    const value = this.#input[field];
    if (value === undefined) return current;
    const read = reader(value, (message, below = "") => this.refuse(`/${field}${below}`, message));
    return read === undefined ? current : read;
  }

  require(field: string, message: string): void {
    if (this.#input[field] === undefined) this.refuse(`/${field}`, message);
  }

  refuse(pointer: string, message: string): undefined {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ pointer, message });
    return undefined;
  }

  finish(what: string): void {
    if (this.#problems.length === 0) return;
    const said = this.#problems.map(({ pointer, message }) =>
      pointer === "" ? message : `${pointer}: ${message}`,
    );
    throw new PosthornError("invalid_endpoint", `${what}. ${said.join(" ")}`, { problems: this.#problems });
  }
}

function escapePointer(name: string): string {
  return name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
