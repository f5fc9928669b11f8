// An endpoint's settings as text in fields, and back: what was changed, and nothing else. A field left empty takes the
// setting back to that of the deployment.
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
export const SCHEMES = [
  "t-v1",
  "sha256",
  "two-headers",
  "standard-webhooks",
  "standard-webhooks-v1a",
] as const;
export const RETRY_PRESETS = ["courier", "short", "exponential", "quick"] as const;

export interface EndpointForm {
  readonly url: string;
  readonly description: string;
  /** One a line. */
  readonly events: string;
  readonly format: string;
  readonly schemes: readonly string[];
  readonly headerPrefix: string;
  /** `Name: value`, one a line. */
  readonly headers: string;
  readonly timeoutMs: string;
  readonly maxInFlight: string;
  readonly rateLimit: string;
  readonly retryPolicy: string;
  readonly retryOn: string;
  readonly ordering: string;
  readonly fifoOnDead: string;
  /** Of a new one only. */
  readonly secret: string;
}

export const EMPTY_FORM: EndpointForm = {
  url: "",
  description: "",
  events: "",
  format: "",
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
  secret: "",
};

export function formOf(endpoint: Endpoint): EndpointForm {
  return {
    url: endpoint.url,
    description: endpoint.description ?? "",
    events: endpoint.events.join("\n"),
    format: endpoint.format,
    schemes: endpoint.signature.schemes,
    headerPrefix: endpoint.signature.header_prefix,
    headers: Object.entries(endpoint.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    timeoutMs: String(endpoint.timeout_ms),
    maxInFlight: String(endpoint.max_in_flight),
    rateLimit: endpoint.rate_limit === null ? "" : String(endpoint.rate_limit),
    retryPolicy: retryPolicyText(endpoint.retry_policy),
    retryOn: endpoint.retry_on,
    ordering: endpoint.ordering,
    fifoOnDead: endpoint.fifo_on_dead,
    secret: "",
  };
}

/** Under the names of the API; the server judges what is in it. */
export type Settings = Readonly<Record<string, unknown>>;

/** What differs from `before`. */
export function changesIn(form: EndpointForm, before: EndpointForm): Settings {
  const settings: Record<string, unknown> = {};
  const put = (name: string, fields: readonly (keyof EndpointForm)[], value: () => unknown) => {
    if (fields.some((field) => String(form[field]) !== String(before[field]))) settings[name] = value();
  };
  put("url", ["url"], () => form.url.trim());
  put("description", ["description"], () => textOrNull(form.description));
  put("events", ["events"], () => linesOf(form.events));
  put("format", ["format"], () => textOrNull(form.format));
  put("signature", ["schemes", "headerPrefix"], () => signatureOf(form));
  put("headers", ["headers"], () => headersOf(form.headers));
  put("timeout_ms", ["timeoutMs"], () => numberOrNull(form.timeoutMs));
  put("max_in_flight", ["maxInFlight"], () => numberOrNull(form.maxInFlight));
  put("rate_limit", ["rateLimit"], () => numberOrNull(form.rateLimit));
  put("retry_policy", ["retryPolicy"], () => retryPolicyOf(form.retryPolicy));
  put("retry_on", ["retryOn"], () => textOrNull(form.retryOn));
  put("ordering", ["ordering"], () => textOrNull(form.ordering));
  put("fifo_on_dead", ["fifoOnDead"], () => textOrNull(form.fifoOnDead));
  put("secret", ["secret"], () => form.secret.trim());
  return settings;
}

function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

/** What is no number goes as it is: the server says so at its place. */
function numberOrNull(text: string): number | string | null {
  if (text.trim() === "") return null;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function linesOf(text: string): string[] {
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

/** Gaps as they are written on the command line; whatever they cannot say, as JSON. */
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

/** In the largest unit that says it exactly: `90s`, `5m`. */
function unitText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms > 0 && ms % length === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
