// All settings: environment variable, parser, default and description. A test compares the reference page with this table.
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
  /** The default for the reference page if `default` is undefined. */
  readonly whenUnset?: string;
  readonly description: string;
  /** The value is never shown, not even in error messages. */
  readonly secret?: boolean;
}

export const settings = {
  port: setting(
    "PORT",
    wholeNumber({ min: 0, max: 65_535 }),
    8400,
    "Port of the HTTP server; 0 uses any free one. The default for the worker role is 0.",
  ),
  host: setting(
    "HOST",
    anyText,
    "127.0.0.1",
    "Address of the HTTP server; 0.0.0.0 listens on every IPv4 interface.",
  ),
  databaseUrl: secret(
    "DATABASE_URL",
    postgresUrl,
    unset("embedded"),
    "URL of a PostgreSQL database, version 14 or newer. Unset: an embedded PostgreSQL in the data directory.",
  ),
  logLevel: setting(
    "LOG_LEVEL",
    oneOf(...LOG_LEVELS),
    "info",
    "Lowest level that is logged: debug, info, warn, error or silent.",
  ),
  dataDir: setting(
    "POSTHORN_DATA_DIR",
    anyText,
    ".posthorn",
    "Folder for the embedded database and generated keys.",
  ),
  schema: setting("POSTHORN_SCHEMA", anyText, "posthorn", "Database schema of Posthorn's tables."),
  migrate: setting(
    "POSTHORN_MIGRATE",
    oneOf("auto", "check", "off"),
    "auto",
    "Migrations at the start of `serve`: auto applies them under a lock, check stops if some are pending, off ignores them.",
  ),
  adminKey: secret(
    "POSTHORN_ADMIN_KEY",
    textOfAtLeast(32),
    unset("generated"),
    "Key with every scope, at least 32 characters. Unset: generated on first start and printed once.",
  ),
  encryptionKeys: secret(
    "POSTHORN_ENCRYPTION_KEYS",
    encryptionKeys,
    unset("generated"),
    "Comma-separated keys for endpoint secrets, id:base64 of 32 bytes; the first encrypts, all decrypt. Unset: generated once and stored in the data directory.",
  ),
  publicUrl: setting(
    "POSTHORN_PUBLIC_URL",
    httpUrl,
    unset("its listening address"),
    "Public URL of this server.",
  ),
  allowedHosts: setting(
    "POSTHORN_ALLOWED_HOSTS",
    list(hostName),
    [],
    "Comma-separated host names of the dashboard, in addition to that of POSTHORN_PUBLIC_URL and loopback names.",
  ),
  portalOrigins: setting(
    "POSTHORN_PORTAL_ORIGINS",
    list(webOrigin),
    [],
    "Comma-separated origins whose pages may embed the customer portal.",
  ),
  portalName: setting(
    "POSTHORN_PORTAL_NAME",
    shortText,
    unset("none"),
    "Name shown in the portal, at most 60 characters.",
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
    "Theme of the portal: light, dark, or auto, which follows the visitor's system.",
  ),
  sink: setting(
    "POSTHORN_SINK",
    yesOrNo,
    false,
    "Enables /sink/{id}, which records what it receives. Enabled in `posthorn dev`.",
  ),
  enabled: setting(
    "POSTHORN_ENABLED",
    yesOrNo,
    true,
    "Whether this deployment sends deliveries. If false, events are still accepted.",
  ),
  allowHttp: setting(
    "POSTHORN_ALLOW_HTTP",
    yesOrNo,
    false,
    "Allows endpoint URLs with http. Enabled in `posthorn dev`.",
  ),
  allowCidrs: setting(
    "POSTHORN_ALLOW_CIDRS",
    list(cidr),
    [],
    "Comma-separated private address ranges that endpoints may use. `posthorn dev` adds loopback.",
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
    "Preset (courier, short, exponential, quick) or delays such as 200ms,1s,5s.",
  ),
  retryOn: setting(
    "POSTHORN_RETRY_ON",
    oneOf("transient", "every"),
    unset("transient"),
    "Responses that are retried: transient (408, 429, 5xx and no response) or every (all except 2xx and 410).",
  ),
  timeoutMs: setting(
    "POSTHORN_TIMEOUT_MS",
    wholeNumber({ min: 100, max: 60_000 }),
    unset("10000"),
    "Time limit of one attempt in milliseconds.",
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
    "Attempts in flight per endpoint, if the endpoint has no limit of its own.",
  ),
  leaseMs: setting(
    "POSTHORN_LEASE_MS",
    wholeNumber({ min: 500, max: 600_000 }),
    unset("15000"),
    "Lease of a worker in milliseconds: how long it keeps its claims without a heartbeat.",
  ),
  maxEndpointsPerTenant: setting(
    "POSTHORN_MAX_ENDPOINTS_PER_TENANT",
    wholeNumber({ min: 1, max: 100_000 }),
    unset("10"),
    "Maximum number of endpoints per tenant.",
  ),
  keyRateLimit: setting(
    "POSTHORN_KEY_RATE_LIMIT",
    wholeNumber({ min: 0, max: 100_000 }),
    1_000,
    "Requests per second and process for keys without their own limit. 0: no limit. The admin key has none.",
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
    "Days that dead letters are kept. Unset: until they are deleted or retried.",
  ),
  idempotencyDays: setting(
    "POSTHORN_IDEMPOTENCY_DAYS",
    wholeNumber({ min: 1, max: 3_650 }),
    unset("30"),
    "Days that idempotency keys are kept.",
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
    "Whether only registered event types can be published: strict, open, or auto, which is strict once a type is registered.",
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
    "Comma-separated signature schemes: t-v1, sha256, two-headers, standard-webhooks, standard-webhooks-v1a, rfc9421, rfc9421-ed25519, or a vendor such as stripe.",
  ),
  userAgent: setting("POSTHORN_USER_AGENT", anyText, unset("Posthorn/1"), "User-Agent header of deliveries."),
  shutdownTimeoutMs: setting(
    "POSTHORN_SHUTDOWN_TIMEOUT_MS",
    wholeNumber({ min: 0, max: 3_600_000 }),
    25_000,
    "Milliseconds that a stop waits for attempts in flight.",
  ),
  circuitFailures: setting(
    "POSTHORN_CIRCUIT_FAILURES",
    wholeNumber({ min: 0, max: 10_000 }),
    unset("10"),
    "Consecutive failures that open an endpoint's circuit. 0 disables the circuit breaker.",
  ),
  circuitFailurePercent: setting(
    "POSTHORN_CIRCUIT_FAILURE_PERCENT",
    wholeNumber({ min: 0, max: 100 }),
    unset("50"),
    "Percentage of failed attempts within a minute (of 20 or more) that opens the circuit. 0: only consecutive failures count.",
  ),
  circuitPauseMs: setting(
    "POSTHORN_CIRCUIT_PAUSE_MS",
    wholeNumber({ min: 100, max: 3_600_000 }),
    unset("30000"),
    "Milliseconds that a circuit stays open before a probe; doubled by every failed probe, up to 5 minutes.",
  ),
  disableAfterFailures: setting(
    "POSTHORN_DISABLE_AFTER_FAILURES",
    wholeNumber({ min: 0, max: 1_000_000 }),
    unset("50"),
    "Consecutive failures that disable an endpoint. 0: never.",
  ),
  disableAfterDays: setting(
    "POSTHORN_DISABLE_AFTER_DAYS",
    wholeNumber({ min: 0, max: 365 }),
    unset("5"),
    "Days with failures and without a success that disable an endpoint. 0: never.",
  ),
  cloudEventsSource: setting(
    "POSTHORN_CLOUDEVENTS_SOURCE",
    uriReference,
    unset("the public URL and /tenants/{tenant}"),
    "Source of CloudEvents that have none: a URI reference in which {tenant} is the tenant's id.",
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
    "Slack-style webhook that is notified when an endpoint is disabled.",
  ),
  smtpUrl: secret(
    "SMTP_URL",
    smtpUrl,
    unset("no e-mail"),
    "Mail server for notifications to a tenant's owners and admins, smtp:// or smtps://. Needs POSTHORN_MAIL_FROM.",
  ),
  metricsPublic: setting(
    "POSTHORN_METRICS_PUBLIC",
    yesOrNo,
    false,
    "Allows reading /metrics without a key. Otherwise it needs a key with the scope admin.",
  ),
  metricsEndpointLabel: setting(
    "POSTHORN_METRICS_ENDPOINT_LABEL",
    yesOrNo,
    unset("true"),
    "Adds a label to metrics for each of the first 200 endpoints. false: no such label.",
  ),
  websub: setting(
    "POSTHORN_WEBSUB",
    yesOrNo,
    false,
    "Enables the WebSub hub at /websub. Needs POSTHORN_PUBLIC_URL.",
  ),
  websubExternalTopics: setting(
    "POSTHORN_WEBSUB_EXTERNAL_TOPICS",
    list(anyText),
    [],
    "Comma-separated URL prefixes of external topics that the hub serves, such as https://blog.example.com/; * for all.",
  ),
  websubSignature: setting(
    "POSTHORN_WEBSUB_SIGNATURE",
    oneOf("sha256", "sha384", "sha512", "sha1"),
    unset("sha256"),
    "Signature method of the hub: sha256, sha384, sha512, or sha1 for subscribers that support no other.",
  ),
  websubLeaseSeconds: setting(
    "POSTHORN_WEBSUB_LEASE_SECONDS",
    wholeNumber({ min: 300, max: 31_536_000 }),
    unset("864000"),
    "Default lease of a subscription, at most POSTHORN_WEBSUB_MAX_LEASE_SECONDS.",
  ),
  websubMaxLeaseSeconds: setting(
    "POSTHORN_WEBSUB_MAX_LEASE_SECONDS",
    wholeNumber({ min: 300, max: 31_536_000 }),
    unset("1296000"),
    "Longest lease of a subscription.",
  ),
  websubMaxSubscriptions: setting(
    "POSTHORN_WEBSUB_MAX_SUBSCRIPTIONS",
    wholeNumber({ min: 1, max: 1_000_000 }),
    unset("10000"),
    "Maximum number of subscriptions.",
  ),
  websubMaxSubscriptionsPerHost: setting(
    "POSTHORN_WEBSUB_MAX_SUBSCRIPTIONS_PER_HOST",
    wholeNumber({ min: 1, max: 1_000_000 }),
    unset("500"),
    "Maximum number of subscriptions per callback host.",
  ),
  websubVerificationsPerHost: setting(
    "POSTHORN_WEBSUB_VERIFICATIONS_PER_HOST",
    wholeNumber({ min: 1, max: 10_000 }),
    unset("30"),
    "Verifications and denials per minute to one host, over all processes.",
  ),
  websubVerificationsPerMinute: setting(
    "POSTHORN_WEBSUB_VERIFICATIONS_PER_MINUTE",
    wholeNumber({ min: 1, max: 100_000 }),
    unset("600"),
    "Verifications and denials per minute in total.",
  ),
  websubMaxTopicBytes: setting(
    "POSTHORN_WEBSUB_MAX_TOPIC_BYTES",
    wholeNumber({ min: 1_024, max: 4_194_304 }),
    unset("1048576"),
    "Maximum size of an external topic's content in bytes.",
  ),
  websubAllowCidrs: setting(
    "POSTHORN_WEBSUB_ALLOW_CIDRS",
    list(cidr),
    [],
    "Comma-separated private address ranges that callbacks and topics may use; POSTHORN_ALLOW_CIDRS applies to endpoints only. `posthorn dev` adds loopback.",
  ),
  mailFrom: setting("POSTHORN_MAIL_FROM", mailSender, unset("none"), "Sender of these e-mails."),
};

export type Settings = typeof settings;

/** Returns the default as text for the reference page. */
export function defaultText({ default: value, whenUnset }: Setting<unknown, unknown>): string {
  if (value === undefined) return whenUnset ?? "none";
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
}

/** A setting without a default here, so that the library's default applies. */
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
