// All settings: parser, default and description. A test compares the reference page with this table.
import { snakeCase } from "@posthorn/wire";
import {
  CATALOGUE_MODES,
  DEFAULT_API_VERSION,
  HUB_SIGNATURE_METHODS,
  hubNumbers,
  numericOptions,
} from "posthorn/internal";
import { LOG_LEVELS } from "../logger.ts";
import { MAX_PROCESSES } from "../processes/process-count.ts";
import { type Definition, numbersOf, optional, secret, setting } from "./definition.ts";
import { endpointDefaults } from "./endpoint-defaults.ts";
import {
  anyText,
  cidr,
  deliveryMode,
  encryptionKeys,
  generatedKey,
  hexColour,
  hostName,
  httpUrl,
  imageUrl,
  list,
  mailSender,
  oneOf,
  postgresUrl,
  shortText,
  smtpUrl,
  sourceList,
  uriReference,
  webOrigin,
  wholeNumber,
  wholeNumberOr,
  yesOrNo,
} from "./parsers.ts";

export interface Setting<T, Default extends T | undefined> extends Definition<T, Default> {
  /** The environment variable. */
  readonly env: string;
}

const definitions = {
  port: setting(
    wholeNumber({ min: 0, max: 65_535 }),
    8400,
    "Port of the HTTP server; 0 uses any free one. The default for the worker role is 0.",
  ),
  host: setting(anyText, "127.0.0.1", "Address of the HTTP server; 0.0.0.0 listens on every IPv4 interface."),
  processes: setting(
    wholeNumberOr("auto", { min: 1, max: MAX_PROCESSES }),
    "auto" as number | "auto",
    "Processes of `posthorn serve` that share the port: a number, or auto, which is one less than the cores, at least 1. `posthorn dev` has one.",
  ),
  databaseUrl: secret(
    postgresUrl,
    "embedded",
    "URL of a PostgreSQL database, version 14 or newer. Unset: an embedded PostgreSQL in the data directory.",
  ),
  logLevel: setting(
    oneOf(...LOG_LEVELS),
    "info",
    "Lowest level that is logged: debug, info, warn, error or silent.",
  ),
  dataDir: setting(anyText, ".posthorn", "Folder for the embedded database and generated keys."),
  schema: setting(anyText, "posthorn", "Database schema of Posthorn's tables."),
  migrate: setting(
    oneOf("auto", "check", "off"),
    "auto",
    "Migrations at the start of `serve`: auto applies them under a lock, check stops if some are pending, off ignores them.",
  ),
  adminKey: secret(
    generatedKey,
    "generated",
    "Key with every scope, at least 32 random characters. Unset: generated on first start and printed once.",
  ),
  encryptionKeys: secret(
    encryptionKeys,
    "generated",
    "Comma-separated keys for endpoint secrets, id:base64 of 32 bytes; the first encrypts, all decrypt. Unset: generated once and stored in the data directory.",
  ),
  publicUrl: optional(httpUrl, "its listening address", "Public URL of this server."),
  allowedHosts: setting(
    list(hostName),
    [],
    "Comma-separated host names of the dashboard, in addition to that of POSTHORN_PUBLIC_URL and loopback names.",
  ),
  portalOrigins: setting(
    list(webOrigin),
    [],
    "Comma-separated origins whose pages may embed the customer portal.",
  ),
  portalName: optional(shortText, "none", "Name shown in the portal, at most 60 characters."),
  portalLogoUrl: optional(
    imageUrl,
    "none",
    "Logo of the portal: a path on the same host such as /logo.svg, or an image as a data: URL of at most 32 KB.",
  ),
  portalAccent: optional(hexColour, "none", "Colour of the portal's buttons and links, such as #0a7d55."),
  portalAppearance: setting(
    oneOf("auto", "light", "dark"),
    "auto",
    "Theme of the portal: light, dark, or auto, which follows the visitor's system.",
  ),
  sink: setting(
    yesOrNo,
    false,
    "Enables /sink/{id}, which records what it receives. Enabled in `posthorn dev`.",
  ),
  enabled: setting(
    deliveryMode,
    "on",
    "Whether deliveries are sent, until that is changed [at run time](deliveries.md#turning-delivery-off): `true` (the same as `on`), `false` (the same as `hold`: events are accepted and their deliveries wait), or `drop` (events are accepted and never delivered).",
  ),
  allowHttp: setting(yesOrNo, false, "Allows endpoint URLs with http. Enabled in `posthorn dev`."),
  allowCidrs: setting(
    list(cidr),
    [],
    "Comma-separated private address ranges that endpoints may use. `posthorn dev` adds loopback.",
  ),
  allowNat64: setting(
    yesOrNo,
    false,
    "Allows delivery through a NAT64 translator (64:ff9b::/96), for hosts without IPv4; the IPv4 address behind it is checked.",
  ),
  ...endpointDefaults,
  ...numbersOf("", numericOptions, {
    concurrency: "Attempts in flight per worker process.",
    leaseMs: "Lease of a worker in milliseconds: how long it keeps its claims without a heartbeat.",
    maxEndpointsPerTenant: "Maximum number of endpoints per tenant.",
    retentionDays: "Days that finished deliveries, their attempts and events are kept; dead letters stay.",
    idempotencyDays: "Days that idempotency keys are kept.",
    auditDays: "Days that entries of the audit log are kept.",
  }),
  keyRateLimit: setting(
    wholeNumber({ min: 0, max: 100_000 }),
    1_000,
    "Requests per second for keys without their own limit, counted over the processes of one server. 0: no limit. The admin key has none.",
  ),
  deadRetentionDays: optional(
    wholeNumber(numericOptions.retentionDays),
    "none",
    "Days that dead letters are kept. Unset: until they are deleted or retried.",
  ),
  catalogue: optional(
    oneOf(...CATALOGUE_MODES),
    CATALOGUE_MODES[0],
    "Whether only registered event types can be published: strict, open, or auto, which is strict once a type is registered.",
  ),
  shutdownTimeoutMs: setting(
    wholeNumber({ min: 0, max: 3_600_000 }),
    25_000,
    "Milliseconds that a stop waits for attempts in flight.",
  ),
  cloudEventsSource: optional(
    uriReference,
    "the public URL and /tenants/{tenant}",
    "Source of CloudEvents that have none: a URI reference in which {tenant} is the tenant's id.",
  ),
  apiVersion: optional(
    anyText,
    DEFAULT_API_VERSION,
    "The api_version of events and event types that name none, such as 2026-06-01.",
  ),
  operatorTenant: optional(anyText, "none", "Tenant whose endpoints get the system events of all tenants."),
  notifyDeadLetters: optional(
    yesOrNo,
    "true",
    "Notifies customers of deliveries that died: the event webhook.delivery.dead and one mail per endpoint and hour.",
  ),
  notifyCircuits: optional(
    yesOrNo,
    "true",
    "Notifies customers of circuits: the events webhook.endpoint.circuit_opened and …recovered, and a mail after 5 minutes.",
  ),
  customerPortalUrl: optional(
    anyText,
    "the portal at POSTHORN_PUBLIC_URL",
    "Page where your customers open the portal, for links in mails: a URL in which {tenant} and {endpoint} are replaced.",
  ),
  alertWebhookUrl: secret(anyText, "none", "Slack-style webhook for these notifications."),
  smtpUrl: secret(
    smtpUrl,
    "no e-mail",
    "Mail server for notifications to a tenant's owners and admins, smtp:// or smtps://. Needs POSTHORN_MAIL_FROM, and POSTHORN_PUBLIC_URL or POSTHORN_CUSTOMER_PORTAL_URL for its links.",
  ),
  metricsPublic: setting(
    yesOrNo,
    false,
    "Allows reading /metrics without a key. Otherwise it needs a key with the scope admin.",
  ),
  metricsEndpointLabel: optional(
    yesOrNo,
    "true",
    "Adds a label to metrics for each of the first 200 endpoints. false: no such label.",
  ),
  websub: setting(yesOrNo, false, "Enables the WebSub hub at /websub. Needs POSTHORN_PUBLIC_URL."),
  websubExternalTopics: setting(
    list(anyText),
    [],
    "Comma-separated URL prefixes of external topics that the hub serves, such as https://blog.example.com/; * for all.",
  ),
  websubSignature: optional(
    oneOf(...HUB_SIGNATURE_METHODS),
    HUB_SIGNATURE_METHODS[0],
    "Signature method of the hub: sha256, sha384, sha512, or sha1 for subscribers that support no other.",
  ),
  ...numbersOf("websub_", hubNumbers, {
    leaseSeconds: "Default lease of a subscription, at most POSTHORN_WEBSUB_MAX_LEASE_SECONDS.",
    maxLeaseSeconds: "Longest lease of a subscription.",
    maxSubscriptions: "Maximum number of subscriptions.",
    maxSubscriptionsPerHost: "Maximum number of subscriptions per callback host.",
    verificationsPerHost: "Verifications and denials per minute to one host, over all processes.",
    verificationsPerMinute: "Verifications and denials per minute in total.",
    maxTopicBytes: "Maximum size of an external topic's content in bytes.",
  }),
  websubAllowCidrs: setting(
    list(cidr),
    [],
    "Comma-separated private address ranges that callbacks and topics may use; POSTHORN_ALLOW_CIDRS applies to endpoints only. `posthorn dev` adds loopback.",
  ),
  sources: {
    ...secret(
      sourceList,
      "none",
      "Outbox tables and messages of PostgreSQL databases that are published, as a JSON list.",
    ),
    isStructured: true,
  },
  mailFrom: optional(mailSender, "none", "Sender of these e-mails."),
};

/** Variables that do not follow the rule of `variableOf`. */
const OTHER_VARIABLES: Readonly<Record<string, string | undefined>> = {
  port: "PORT",
  host: "HOST",
  databaseUrl: "DATABASE_URL",
  logLevel: "LOG_LEVEL",
  smtpUrl: "SMTP_URL",
  cloudEventsSource: "POSTHORN_CLOUDEVENTS_SOURCE",
};

/** `timeoutMs` is read from `POSTHORN_TIMEOUT_MS`. */
function variableOf(name: string): string {
  return OTHER_VARIABLES[name] ?? `POSTHORN_${snakeCase(name).toUpperCase()}`;
}

/** Names the settings file; not a setting, because it cannot be in that file. */
export const CONFIG_VARIABLE = "POSTHORN_CONFIG";

/** The name of a variable's setting in the settings file: `timeout_ms` for `POSTHORN_TIMEOUT_MS`. */
export function fileKeyOf(variable: string): string {
  return variable.replace(/^POSTHORN_/, "").toLowerCase();
}

type Definitions = typeof definitions;
export type Settings = {
  readonly [Name in keyof Definitions]: Definitions[Name] & { readonly env: string };
};

export const settings = Object.fromEntries(
  Object.entries(definitions).map(([name, definition]) => [name, { env: variableOf(name), ...definition }]),
) as Settings;

/** Returns the default as text for the reference page. */
export function defaultText({ default: value, whenUnset }: Setting<unknown, unknown>): string {
  if (value === undefined) return whenUnset ?? "none";
  return Array.isArray(value) && value.length === 0 ? "none" : String(value);
}
