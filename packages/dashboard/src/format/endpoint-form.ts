// Converts endpoint settings to form fields and back. Only changed settings are sent; an empty field resets a setting to
// the deployment default.
import type { Endpoint } from "@posthorn/client";

export const FORMATS = [
  "envelope",
  "data",
  "thin",
  "cloudevents",
  "cloudevents-binary",
  "cloudevents-thin",
  "cloudevents-batch",
] as const;
export const RETRY_ON = ["transient", "every"] as const;
export const ORDERINGS = ["none", "fifo"] as const;
export const FIFO_ON_DEAD = ["pass", "hold"] as const;
export const AUTHORIZATIONS = ["bearer", "query"] as const;
export const PRESETS = ["standard-webhooks"] as const;
export const RETRY_PRESETS = ["courier", "short", "exponential", "quick"] as const;

/** The API's bounds, for hints; the API validates. */
export const BATCH_BOUNDS = {
  batchEvents: { min: 1, max: 1_000, usual: 100 },
  batchBytes: { min: 1_024, max: 4_194_304, usual: 524_288 },
  batchDelayMs: { min: 10, max: 3_600_000, usual: 1_000 },
} as const;

/** The highest rate that can be requested in a handshake. */
export const MAX_RATE_PER_MINUTE = 600_000;

export interface EndpointForm {
  readonly url: string;
  readonly description: string;
  /** One per line. */
  readonly events: string;
  readonly format: string;
  readonly batchEvents: string;
  readonly batchBytes: string;
  readonly batchDelayMs: string;
  readonly schemes: readonly string[];
  readonly headerPrefix: string;
  /** `Name: value`, one per line. */
  readonly headers: string;
  readonly timeoutMs: string;
  readonly maxInFlight: string;
  readonly rateLimit: string;
  readonly retryPolicy: string;
  readonly retryOn: string;
  readonly ordering: string;
  readonly fifoOnDead: string;
  /** Empty for no token. */
  readonly authorization: string;
  /** The stored token is never returned; empty keeps it. */
  readonly token: string;
  readonly isAskedFirst: boolean;
  readonly origin: string;
  readonly originRate: string;
  /** This and the following fields exist only for new endpoints. */
  readonly preset: string;
  readonly secret: string;
  /** Secrets per scheme. */
  readonly schemeSecrets: Readonly<Record<string, string>>;
}

/** Names of the fields with a text value. */
export type TextFieldName = {
  [Name in keyof EndpointForm]: EndpointForm[Name] extends string ? Name : never;
}[keyof EndpointForm];

export const EMPTY_FORM: EndpointForm = {
  url: "",
  description: "",
  events: "",
  format: "",
  batchEvents: "",
  batchBytes: "",
  batchDelayMs: "",
  schemes: [],
  headerPrefix: "",
  headers: "",
  timeoutMs: "",
  maxInFlight: "",
  rateLimit: "",
  retryPolicy: "",
  retryOn: "",
  ordering: "",
  fifoOnDead: "",
  authorization: "",
  token: "",
  isAskedFirst: false,
  origin: "",
  originRate: "",
  preset: "",
  secret: "",
  schemeSecrets: {},
};

export function formOf(endpoint: Endpoint): EndpointForm {
  return {
    url: endpoint.url,
    description: endpoint.description ?? "",
    events: endpoint.events.join("\n"),
    format: endpoint.format,
    batchEvents: String(endpoint.batch.max_events),
    batchBytes: String(endpoint.batch.max_bytes),
    batchDelayMs: String(endpoint.batch.max_delay_ms),
    schemes: endpoint.signature.schemes,
    headerPrefix: endpoint.signature.header_prefix,
    headers: Object.entries(endpoint.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    timeoutMs: String(endpoint.timeout_ms),
    maxInFlight: String(endpoint.max_in_flight),
    rateLimit: textOf(endpoint.rate_limit),
    retryPolicy: retryPolicyText(endpoint.retry_policy),
    retryOn: endpoint.retry_on,
    ordering: endpoint.ordering,
    fifoOnDead: endpoint.fifo_on_dead,
    authorization: endpoint.authorization?.type ?? "",
    token: "",
    isAskedFirst: endpoint.handshake !== null,
    origin: endpoint.handshake?.origin ?? "",
    originRate: textOf(endpoint.handshake?.rate),
    preset: "",
    secret: "",
    schemeSecrets: {},
  };
}

/** Settings by API name, not validated. */
export type Settings = Readonly<Record<string, unknown>>;

/** Returns the settings that differ from `before`. */
export function changesIn(form: EndpointForm, before: EndpointForm): Settings {
  const settings: Record<string, unknown> = {};
  const put = (name: string, fields: readonly (keyof EndpointForm)[], value: () => unknown) => {
    if (fields.some((field) => JSON.stringify(form[field]) !== JSON.stringify(before[field])))
      settings[name] = value();
  };
  put("url", ["url"], () => form.url.trim());
  put("description", ["description"], () => textOrNull(form.description));
  put("events", ["events"], () => linesOf(form.events));
  put("format", ["format"], () => textOrNull(form.format));
  put("batch", ["batchEvents", "batchBytes", "batchDelayMs"], () => batchOf(form));
  put("signature", ["schemes", "headerPrefix"], () => signatureOf(form));
  put("headers", ["headers"], () => headersOf(form.headers));
  put("timeout_ms", ["timeoutMs"], () => numberOrNull(form.timeoutMs));
  put("max_in_flight", ["maxInFlight"], () => numberOrNull(form.maxInFlight));
  put("rate_limit", ["rateLimit"], () => numberOrNull(form.rateLimit));
  put("retry_policy", ["retryPolicy"], () => retryPolicyOf(form.retryPolicy));
  put("retry_on", ["retryOn"], () => textOrNull(form.retryOn));
  put("ordering", ["ordering"], () => textOrNull(form.ordering));
  put("fifo_on_dead", ["fifoOnDead"], () => textOrNull(form.fifoOnDead));
  put("authorization", ["authorization", "token"], () => authorizationOf(form));
  put("handshake", ["isAskedFirst", "origin", "originRate"], () => handshakeOf(form));
  put("preset", ["preset"], () => textOrNull(form.preset));
  put("secret", ["secret"], () => form.secret.trim());
  const own = ownSecretsOf(form);
  if (Object.keys(own).length > 0) settings.scheme_secrets = own;
  return settings;
}

function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

function textOf(number: number | null | undefined): string {
  return number === null || number === undefined ? "" : String(number);
}

/** Text that is not a number is passed on, so that the server reports it at the field. */
function numberOrNull(text: string): number | string | null {
  if (text.trim() === "") return null;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** Splits by lines and commas. */
export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function signatureOf({ schemes, headerPrefix }: EndpointForm): Settings | null {
  const prefix = headerPrefix.trim();
  if (schemes.length === 0 && prefix === "") return null;
  return { ...(schemes.length > 0 && { schemes }), ...(prefix !== "" && { header_prefix: prefix }) };
}

/** Omitted bounds use the default: the API replaces `batch` as a whole. */
function batchOf({ batchEvents, batchBytes, batchDelayMs }: EndpointForm): Settings | null {
  const bounds = Object.entries({
    max_events: numberOrNull(batchEvents),
    max_bytes: numberOrNull(batchBytes),
    max_delay_ms: numberOrNull(batchDelayMs),
  }).filter(([, bound]) => bound !== null);
  return bounds.length === 0 ? null : Object.fromEntries(bounds);
}

function authorizationOf({ authorization: type, token }: EndpointForm): Settings | null {
  if (type === "") return null;
  return { type, ...(token.trim() !== "" && { token: token.trim() }) };
}

function handshakeOf({ isAskedFirst, origin, originRate }: EndpointForm): Settings | null {
  return isAskedFirst ? { origin: origin.trim(), rate: numberOrNull(originRate) } : null;
}

/** Secrets of the selected schemes. */
function ownSecretsOf({ schemes, schemeSecrets }: EndpointForm): Readonly<Record<string, string>> {
  const given = schemes.map((scheme) => [scheme, schemeSecrets[scheme]?.trim() ?? ""] as const);
  return Object.fromEntries(given.filter(([, secret]) => secret !== ""));
}

function headersOf(text: string): Settings | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return null;
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return colon === -1 ? [line.trim(), ""] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Formats a policy as gaps, as on the command line, or as JSON if gaps cannot express it. */
export function retryPolicyText(policy: Endpoint["retry_policy"]): string {
  const { kind, gaps_ms = [], base_ms = 0, cap_ms = 0, max_attempts, max_age_ms } = policy;
  const limit = max_age_ms === undefined ? {} : { max_age: unitText(max_age_ms) };
  if (kind === "exponential") {
    const exponential = { base: unitText(base_ms), cap: unitText(cap_ms), max_attempts };
    return JSON.stringify({ exponential, ...limit });
  }
  const gaps = gaps_ms.map(unitText);
  if (gaps.length === 0 || max_age_ms !== undefined) return JSON.stringify({ gaps, ...limit });
  return gaps.join(", ");
}

function retryPolicyOf(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (!trimmed.startsWith("{")) return trimmed;
  try {
    return JSON.parse(trimmed) as unknown;
  } catch {
    return trimmed;
  }
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** The largest unit without a remainder, for example `90s` or `5m`. */
function unitText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms > 0 && ms % length === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
