// Every setting there is: its name in the environment, how it is read, what it is when unset, and one line on it.
// The reference page is compared with this table.
import { LOG_LEVELS } from "../logger.ts";
import {
  anyText,
  cidr,
  encryptionKeys,
  hexColour,
  hostName,
  httpUrl,
  imageUrl,
  list,
  mailSender,
  oneOf,
  type Parser,
  postgresUrl,
  shortText,
  smtpUrl,
  textOfAtLeast,
  uriReference,
  webOrigin,
  wholeNumber,
  yesOrNo,
} from "./parsers.ts";

export interface Setting<T, Default extends T | undefined> {
  readonly env: string;
  readonly parse: Parser<T>;
  readonly default: Default;
  /** What applies when it is unset and has no default of its own here: the library's default, or what is done then. */
  readonly whenUnset?: string;
  readonly description: string;
  /** The value is never shown, not even in a message about it. */
  readonly secret?: boolean;
}

export const settings = {
  port: setting(
    "PORT",
    wholeNumber({ min: 0, max: 65_535 }),
    8400,
    "Port of the HTTP server; 0 takes any free one. The default of the worker role is 0.",
  ),
  host: setting(
    "HOST",
    anyText,
    "127.0.0.1",
    "Address the HTTP server listens on; 0.0.0.0 for every IPv4 interface.",
  ),
  databaseUrl: secret(
    "DATABASE_URL",
    postgresUrl,
    unset("the embedded one"),
    "PostgreSQL 14 or newer. Unset: an embedded PostgreSQL in the data directory.",
  ),
  logLevel: setting(
    "LOG_LEVEL",
    oneOf(...LOG_LEVELS),
    "info",
    "Least important log line that is written: debug, info, warn, error or silent.",
  ),
  dataDir: setting(
    "POSTHORN_DATA_DIR",
    anyText,
    ".posthorn",
    "Where the embedded database and generated keys are kept.",
  ),
  schema: setting("POSTHORN_SCHEMA", anyText, "posthorn", "Database schema of Posthorn's tables."),
  migrate: setting(
    "POSTHORN_MIGRATE",
    oneOf("auto", "check", "off"),
    "auto",
    "What `serve` does about migrations at start: auto applies them under a lock, check stops when some are pending, off does not look.",
  ),
  adminKey: secret(
    "POSTHORN_ADMIN_KEY",
    textOfAtLeast(32),
    unset("made"),
    "Key with every scope, 32 characters or more. Unset: one is made on first start and printed once.",
  ),
  encryptionKeys: secret(
    "POSTHORN_ENCRYPTION_KEYS",
    encryptionKeys,
    unset("made"),
    "Keys for endpoint secrets at rest, id:base64 of 32 bytes, comma between; the first encrypts, all decrypt. Unset: made once and kept in the data directory.",
  ),
  publicUrl: setting(
    "POSTHORN_PUBLIC_URL",
    httpUrl,
    unset("the address it listens on"),
    "URL under which people and receivers reach this server.",
  ),
  allowedHosts: setting(
    "POSTHORN_ALLOWED_HOSTS",
    list(hostName),
    [],
    "Host names by which people reach the dashboard besides that of POSTHORN_PUBLIC_URL and those of loopback, comma between.",
  ),
  portalOrigins: setting(
    "POSTHORN_PORTAL_ORIGINS",
    list(webOrigin),
    [],
    "Origins whose pages may show the customers' portal in a frame, comma between.",
  ),
  portalName: setting(
    "POSTHORN_PORTAL_NAME",
    shortText,
    unset("none"),
    "Whose portal it is, shown to customers: text of at most 60 characters.",
  ),
  portalLogoUrl: setting(
    "POSTHORN_PORTAL_LOGO_URL",
    imageUrl,
    unset("none"),
    "Logo of the portal: a path on the same host such as /logo.svg, or an image as a data: URL of at most 32 KB.",
  ),
  portalAccent: setting(
    "POSTHORN_PORTAL_ACCENT",
    hexColour,
    unset("none"),
    "Colour of the portal's buttons and links, such as #0a7d55.",
  ),
  portalAppearance: setting(
    "POSTHORN_PORTAL_APPEARANCE",
    oneOf("auto", "light", "dark"),
    "auto",
    "Whether the portal is light or dark; auto: as the visitor's system is.",
  ),
  sink: setting(
    "POSTHORN_SINK",
    yesOrNo,
    false,
    "Turns on /sink/{id}, which records what it receives. On in `posthorn dev`.",
  ),
  enabled: setting(
    "POSTHORN_ENABLED",
    yesOrNo,
    true,
    "Turns delivery off for the whole deployment; events are still accepted.",
  ),
  allowHttp: setting(
    "POSTHORN_ALLOW_HTTP",
    yesOrNo,
    false,
    "Allows endpoint URLs with http. On in `posthorn dev`.",
  ),
  allowCidrs: setting(
    "POSTHORN_ALLOW_CIDRS",
    list(cidr),
    [],
    "Address ranges that endpoints may have although they are private, comma between. `posthorn dev` adds loopback.",
  ),
  allowNat64: setting(
    "POSTHORN_ALLOW_NAT64",
    yesOrNo,
    false,
    "Allows delivery through a NAT64 translator (64:ff9b::/96), for hosts without IPv4; the IPv4 address behind it is checked.",
  ),
  retryPolicy: setting(
    "POSTHORN_RETRY_POLICY",
    anyText,
    unset("courier"),
    "Preset (courier, short, exponential, quick) or gaps such as 200ms,1s,5s.",
  ),
  retryOn: setting(
    "POSTHORN_RETRY_ON",
    oneOf("transient", "every"),
    unset("transient"),
    "Which answers are retried: transient (408, 429, 5xx and no answer) or every one but 2xx and 410.",
  ),
  timeoutMs: setting(
    "POSTHORN_TIMEOUT_MS",
    wholeNumber({ min: 100, max: 60_000 }),
    unset("10000"),
    "Longest time of one attempt.",
  ),
  concurrency: setting(
    "POSTHORN_CONCURRENCY",
    wholeNumber({ min: 1, max: 10_000 }),
    unset("500"),
    "Attempts in flight per worker process.",
  ),
  endpointConcurrency: setting(
    "POSTHORN_ENDPOINT_CONCURRENCY",
    wholeNumber({ min: 1, max: 100 }),
    unset("5"),
    "Attempts in flight per endpoint, unless the endpoint says otherwise.",
  ),
  leaseMs: setting(
    "POSTHORN_LEASE_MS",
    wholeNumber({ min: 500, max: 600_000 }),
    unset("15000"),
    "How long a silent worker keeps what it claimed.",
  ),
  maxEndpointsPerTenant: setting(
    "POSTHORN_MAX_ENDPOINTS_PER_TENANT",
    wholeNumber({ min: 1, max: 100_000 }),
    unset("10"),
    "Endpoints a tenant may have.",
  ),
  keyRateLimit: setting(
    "POSTHORN_KEY_RATE_LIMIT",
    wholeNumber({ min: 0, max: 100_000 }),
    1_000,
    "Requests per second that a key may make of each process, unless the key has a limit of its own. 0: no limit. The admin key has none.",
  ),
  retentionDays: setting(
    "POSTHORN_RETENTION_DAYS",
    wholeNumber({ min: 1, max: 3_650 }),
    unset("90"),
    "Days that finished deliveries, their attempts and events are kept; dead letters stay.",
  ),
  deadRetentionDays: setting(
    "POSTHORN_DEAD_RETENTION_DAYS",
    wholeNumber({ min: 1, max: 3_650 }),
    unset("none"),
    "Days that dead letters are kept. Unset: until somebody deletes or revives them.",
  ),
  idempotencyDays: setting(
    "POSTHORN_IDEMPOTENCY_DAYS",
    wholeNumber({ min: 1, max: 3_650 }),
    unset("30"),
    "Days that an idempotency key is remembered.",
  ),
  auditDays: setting(
    "POSTHORN_AUDIT_DAYS",
    wholeNumber({ min: 1, max: 3_650 }),
    unset("365"),
    "Days that entries of the audit log are kept.",
  ),
  catalogue: setting(
    "POSTHORN_CATALOGUE",
    oneOf("auto", "strict", "open"),
    unset("auto"),
    "Whether only registered event types are published: strict, open, or auto, which is strict from the first registered type on.",
  ),
  headerPrefix: setting(
    "POSTHORN_HEADER_PREFIX",
    anyText,
    unset("X-Webhook"),
    "Prefix of the webhook headers.",
  ),
  signatureSchemes: setting(
    "POSTHORN_SIGNATURE_SCHEMES",
    list(anyText),
    unset("t-v1,standard-webhooks"),
    "How deliveries are signed, comma between: t-v1, sha256, two-headers, standard-webhooks, standard-webhooks-v1a, rfc9421, rfc9421-ed25519, or a vendor such as stripe.",
  ),
  userAgent: setting("POSTHORN_USER_AGENT", anyText, unset("Posthorn/1"), "User-Agent header of deliveries."),
  shutdownTimeoutMs: setting(
    "POSTHORN_SHUTDOWN_TIMEOUT_MS",
    wholeNumber({ min: 0, max: 3_600_000 }),
    25_000,
    "How long a stop waits for what is in flight.",
  ),
  circuitFailures: setting(
    "POSTHORN_CIRCUIT_FAILURES",
    wholeNumber({ min: 0, max: 10_000 }),
    unset("10"),
    "Failures in a row that open an endpoint's circuit: nothing is sent to it for a while. 0 turns the breaker off.",
  ),
  circuitFailurePercent: setting(
    "POSTHORN_CIRCUIT_FAILURE_PERCENT",
    wholeNumber({ min: 0, max: 100 }),
    unset("50"),
    "Percent of an endpoint's attempts within a minute (of 20 or more) whose failing opens the circuit; 0: only failures in a row do.",
  ),
  circuitPauseMs: setting(
    "POSTHORN_CIRCUIT_PAUSE_MS",
    wholeNumber({ min: 100, max: 3_600_000 }),
    unset("30000"),
    "How long a circuit stays open before a probe; doubled by every failed one, up to 5 minutes.",
  ),
  disableAfterFailures: setting(
    "POSTHORN_DISABLE_AFTER_FAILURES",
    wholeNumber({ min: 0, max: 1_000_000 }),
    unset("50"),
    "Failures in a row after which an endpoint is disabled; 0: never.",
  ),
  disableAfterDays: setting(
    "POSTHORN_DISABLE_AFTER_DAYS",
    wholeNumber({ min: 0, max: 365 }),
    unset("5"),
    "Days without a success, and with failures, after which an endpoint is disabled; 0: never.",
  ),
  cloudEventsSource: setting(
    "POSTHORN_CLOUDEVENTS_SOURCE",
    uriReference,
    unset("the public URL and /tenants/{tenant}"),
    "Source of CloudEvents that have none of their own: a URI reference, {tenant} in it is the tenant's id.",
  ),
  operatorTenant: setting(
    "POSTHORN_OPERATOR_TENANT",
    anyText,
    unset("none"),
    "Tenant whose endpoints get the system events of all tenants.",
  ),
  alertWebhookUrl: secret(
    "POSTHORN_ALERT_WEBHOOK_URL",
    anyText,
    unset("none"),
    "Slack-style webhook that is told when an endpoint is disabled.",
  ),
  smtpUrl: secret(
    "SMTP_URL",
    smtpUrl,
    unset("no mail"),
    "Mail server for messages to a tenant's owners and admins, smtp:// or smtps://. Needs POSTHORN_MAIL_FROM.",
  ),
  metricsPublic: setting(
    "POSTHORN_METRICS_PUBLIC",
    yesOrNo,
    false,
    "Whoever reaches the server may read /metrics. Otherwise it takes a key with the scope admin.",
  ),
  metricsEndpointLabel: setting(
    "POSTHORN_METRICS_ENDPOINT_LABEL",
    yesOrNo,
    unset("true"),
    "Metrics tell endpoints apart, the first 200 of them. false: they are counted together.",
  ),
  websub: setting(
    "POSTHORN_WEBSUB",
    yesOrNo,
    false,
    "Makes this server a WebSub hub at /websub. Needs POSTHORN_PUBLIC_URL.",
  ),
  websubExternalTopics: setting(
    "POSTHORN_WEBSUB_EXTERNAL_TOPICS",
    list(anyText),
    [],
    "Topics of others that the hub serves, by how their URLs begin, such as https://blog.example.com/, comma between; * for all.",
  ),
  websubSignature: setting(
    "POSTHORN_WEBSUB_SIGNATURE",
    oneOf("sha256", "sha384", "sha512", "sha1"),
    unset("sha256"),
    "How the hub signs: sha256, sha384, sha512, or sha1 for subscribers that know no other.",
  ),
  websubLeaseSeconds: setting(
    "POSTHORN_WEBSUB_LEASE_SECONDS",
    wholeNumber({ min: 300, max: 31_536_000 }),
    unset("864000"),
    "Lease of a subscriber that asks for none, at most POSTHORN_WEBSUB_MAX_LEASE_SECONDS.",
  ),
  websubMaxLeaseSeconds: setting(
    "POSTHORN_WEBSUB_MAX_LEASE_SECONDS",
    wholeNumber({ min: 300, max: 31_536_000 }),
    unset("1296000"),
    "Longest lease there is.",
  ),
  websubMaxSubscriptions: setting(
    "POSTHORN_WEBSUB_MAX_SUBSCRIPTIONS",
    wholeNumber({ min: 1, max: 1_000_000 }),
    unset("10000"),
    "Subscriptions of the hub in all.",
  ),
  websubMaxSubscriptionsPerHost: setting(
    "POSTHORN_WEBSUB_MAX_SUBSCRIPTIONS_PER_HOST",
    wholeNumber({ min: 1, max: 1_000_000 }),
    unset("500"),
    "Subscriptions of the hub whose callbacks are on one host.",
  ),
  websubVerificationsPerHost: setting(
    "POSTHORN_WEBSUB_VERIFICATIONS_PER_HOST",
    wholeNumber({ min: 1, max: 10_000 }),
    unset("30"),
    "Verifications and denials that the hub sends to one host within a minute, from all processes.",
  ),
  websubVerificationsPerMinute: setting(
    "POSTHORN_WEBSUB_VERIFICATIONS_PER_MINUTE",
    wholeNumber({ min: 1, max: 100_000 }),
    unset("600"),
    "Verifications and denials that the hub sends within a minute in all.",
  ),
  websubMaxTopicBytes: setting(
    "POSTHORN_WEBSUB_MAX_TOPIC_BYTES",
    wholeNumber({ min: 1_024, max: 4_194_304 }),
    unset("1048576"),
    "Content of others' topics beyond this is not distributed.",
  ),
  websubAllowCidrs: setting(
    "POSTHORN_WEBSUB_ALLOW_CIDRS",
    list(cidr),
    [],
    "Address ranges that the hub's callbacks and topics may have although they are private, comma between; POSTHORN_ALLOW_CIDRS is for endpoints alone. `posthorn dev` adds loopback.",
  ),
  mailFrom: setting("POSTHORN_MAIL_FROM", mailSender, unset("none"), "Sender of these messages."),
};

export type Settings = typeof settings;

/** As the reference page shows it. */
export function defaultText({ default: value, whenUnset }: Setting<unknown, unknown>): string {
  if (value === undefined) return whenUnset ?? "none";
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
}

/** No default here, so that the library's applies. */
interface Unset {
  readonly whenUnset: string;
}

function unset(text: string): Unset {
  return { whenUnset: text };
}

function isUnset(fallback: unknown): fallback is Unset {
  return typeof fallback === "object" && fallback !== null && "whenUnset" in fallback;
}

function setting<T>(
  env: string,
  parse: Parser<T>,
  fallback: Unset,
  description: string,
): Setting<T, undefined>;
function setting<T, D extends T>(
  env: string,
  parse: Parser<T>,
  fallback: D,
  description: string,
): Setting<T, D>;
function setting<T>(
  env: string,
  parse: Parser<T>,
  fallback: T | Unset,
  description: string,
): Setting<T, T | undefined> {
  return isUnset(fallback)
    ? { env, parse, default: undefined, ...fallback, description }
    : { env, parse, default: fallback, description };
}

function secret<T>(
  env: string,
  parse: Parser<T>,
  fallback: Unset,
  description: string,
): Setting<T, undefined> {
  return { ...setting(env, parse, fallback, description), secret: true };
}
