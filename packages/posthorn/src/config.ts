// The library's options: type, documentation and default together, parsed once. Unknown names are rejected with a
// suggestion.
import { DEPLOYMENT_OPTIONS, isUriReference, parseUrl } from "@posthorn/wire";
import type pg from "pg";
import { checkUrl } from "./attempt/guard/check-url.ts";
import { type AddressPolicy, parseAddressPolicy } from "./attempt/guard/guard-address.ts";
import type { CatalogueMode } from "./catalogue/catalogue.ts";
import { DeclaredTypes, type EventDeclarations } from "./catalogue/declared-types.ts";
import { resolveWebSub, type WebSubOptions } from "./destinations/websub/options.ts";
import { refuseUnknown } from "./did-you-mean.ts";
import { type InputProblem, PosthornError } from "./errors.ts";
import {
  apiVersionSyntax,
  apiVersionSyntaxInWords,
  DEFAULT_API_VERSION,
  tenantSyntax,
} from "./event/limits.ts";
import { DELIVERY_MODES, type DeliveryMode, type FormatContext } from "./model.ts";
import type { SendMail } from "./notify/mail-channel.ts";
import { type Logger, silentLogger } from "./observe/log.ts";
import {
  invalid,
  type NumericOption,
  OptionCheck,
  oneOf,
  readNumbers,
  readRanges,
  shown,
  within,
  yesOrNo,
} from "./option-checks.ts";
import {
  type EndpointDefaultOptions,
  readEndpointDefaults,
} from "./resources/endpoints/endpoint-defaults.ts";
import { resolveSources, type SourceOptions } from "./sources/options.ts";
import { parseKeyRing } from "./storage/key-ring.ts";
import { isSchemaName } from "./storage/sql.ts";

/** Options that are defaults of endpoint settings are in `EndpointDefaultOptions`. */
export interface PosthornOptions extends EndpointDefaultOptions {
  /** Your `pg` pool, or a connection string. */
  readonly database: pg.Pool | string;
  /** The PostgreSQL schema of all tables. Default `posthorn`. */
  readonly schema?: string | undefined;
  /**
   * `id:base64 of 32 bytes`, separated by commas: the first key encrypts endpoint secrets, all decrypt. Default: the
   * environment's `POSTHORN_ENCRYPTION_KEYS`.
   */
  readonly encryptionKeys?: string | readonly string[] | undefined;
  /** Deliver to `http:` URLs too. Default false. */
  readonly allowHttp?: boolean | undefined;
  /** Address ranges, such as `127.0.0.0/8`, to allow although they are not public. Default none. */
  readonly allowCidrs?: readonly string[] | undefined;
  /** Deliver through a NAT64 translator (`64:ff9b::/96`); the IPv4 address behind it is checked. Default false. */
  readonly allowNat64?: boolean | undefined;
  /** Attempts in flight in this process. Default 500. */
  readonly concurrency?: number | undefined;
  /** How long a worker that does not renew its lease keeps its claims. Default 15 000. */
  readonly leaseMs?: number | undefined;
  /** Endpoints per tenant. Default 10. */
  readonly maxEndpointsPerTenant?: number | undefined;
  /** Days that finished deliveries, their attempts and events are kept, except for dead letters. Default 90. */
  readonly retentionDays?: number | undefined;
  /** Days that dead letters are kept. Default: until they are deleted or retried. */
  readonly deadRetentionDays?: number | undefined;
  /** Days that an idempotency key is kept. Default 30. */
  readonly idempotencyDays?: number | undefined;
  /** Days that audit log entries are kept. Default 365. */
  readonly auditDays?: number | undefined;
  /**
   * The `source` of CloudEvents without their own: a URI reference in which `{tenant}` is replaced. Default:
   * `publicUrl` and `/tenants/{tenant}`.
   */
  readonly cloudEventsSource?: string | undefined;
  /** The `apiVersion` of events and event types that name none. Default `1`. */
  readonly apiVersion?: string | undefined;
  /** Event types declared in code with `event({ schema })`: TypeScript then checks `publish`. Default none. */
  readonly events?: EventDeclarations | undefined;
  /**
   * `strict`: only registered types with valid data are published. `open`: everything is. `auto`: strict from the
   * first registered type on. Default `auto`.
   */
  readonly catalogue?: CatalogueMode | undefined;
  /**
   * The tenant whose endpoints receive the system events of all tenants, such as `webhook.endpoint.disabled`. Default
   * none.
   */
  readonly operatorTenant?: string | undefined;
  /** Notify customers of deliveries that died, by `webhook.delivery.dead` and mail. Default true. */
  readonly notifyDeadLetters?: boolean | undefined;
  /** Notify customers of circuits, by `webhook.endpoint.circuit_opened`, `…recovered` and mail. Default true. */
  readonly notifyCircuits?: boolean | undefined;
  /**
   * Sends one mail to a tenant's owners and admins, who are notified of their endpoints. Needs `publicUrl` or
   * `customerPortalUrl`, to which the mails link. Default: no mail.
   */
  readonly sendMail?: SendMail | undefined;
  /** A Slack-style webhook that is sent `{"text": "…"}` with each of these notifications. Default none. */
  readonly alertWebhookUrl?: string | undefined;
  /** The public base URL of this installation, used in mails and links. Default none. */
  readonly publicUrl?: string | undefined;
  /**
   * The page where your customers open the portal, for links in mails: a URL in which `{tenant}` and `{endpoint}` are
   * replaced. Default: the portal at `publicUrl`.
   */
  readonly customerPortalUrl?: string | undefined;
  /** Makes this installation a WebSub hub at `publicUrl` + `/websub`. Default: no hub. */
  readonly websub?: WebSubOptions | undefined;
  /** Tables and messages of PostgreSQL databases whose rows are published as events. Default none. */
  readonly sources?: readonly SourceOptions[] | undefined;
  /**
   * Whether deliveries are sent, unless that was changed while the installation ran. `false` or `hold`: nothing is sent,
   * and events get deliveries that wait. `drop`: nothing is sent, and events get none. Default true, the same as `on`.
   */
  readonly enabled?: boolean | DeliveryMode | undefined;
  /** If true, metrics have a label for each of the first 200 endpoints. Default true. */
  readonly metricsEndpointLabel?: boolean | undefined;
  /** Who changes things through this instance, for the audit log. `as` names someone else. Default none. */
  readonly actor?: string | undefined;
  /** An object with debug, info, warn and error. Default: no logging. */
  readonly logger?: Logger | undefined;
}

export type Config = ReturnType<typeof resolveConfig>;

/** Ten years. */
const days = { min: 1, max: 3_650 };

/** Bounds and defaults of other options that are numbers, shared with the server's settings. */
export const numericOptions = {
  concurrency: { min: 1, max: 10_000, default: 500 },
  leaseMs: { min: 500, max: 600_000, default: 15_000 },
  maxEndpointsPerTenant: { min: 1, max: 100_000, default: 10 },
  retentionDays: { ...days, default: 90 },
  idempotencyDays: { ...days, default: 30 },
  auditDays: { ...days, default: 365 },
} satisfies Partial<Record<keyof PosthornOptions, NumericOption>>;

export const optionNames: readonly (keyof PosthornOptions)[] = [
  ...DEPLOYMENT_OPTIONS.map(({ name }) => name),
  ...(Object.keys(numericOptions) as (keyof typeof numericOptions)[]),
  "database",
  "schema",
  "encryptionKeys",
  "allowHttp",
  "allowCidrs",
  "allowNat64",
  "deadRetentionDays",
  "cloudEventsSource",
  "apiVersion",
  "events",
  "catalogue",
  "operatorTenant",
  "notifyDeadLetters",
  "notifyCircuits",
  "sendMail",
  "alertWebhookUrl",
  "publicUrl",
  "customerPortalUrl",
  "websub",
  "sources",
  "enabled",
  "metricsEndpointLabel",
  "actor",
  "logger",
];

export const CATALOGUE_MODES = ["auto", "strict", "open"] as const satisfies readonly CatalogueMode[];

/** Throws one error for all wrong options; each of its problems has the path of an option as its pointer. */
export function resolveConfig(options: PosthornOptions) {
  const check = new OptionCheck();
  check.read("", () => refuseUnknown("There is no option", options, optionNames));
  const addressPolicy = readAddressPolicy(check, options);
  const apiVersion = check.read(
    "apiVersion",
    () => readApiVersion(options.apiVersion ?? DEFAULT_API_VERSION),
    DEFAULT_API_VERSION,
  );
  const publicUrl = check.read("publicUrl", () => readPublicUrl("publicUrl", options.publicUrl), "");
  const numbers = readNumbers(check, options, numericOptions);
  const { concurrency, leaseMs, maxEndpointsPerTenant, retentionDays, idempotencyDays, auditDays } = numbers;
  const endpointDefaults = readEndpointDefaults(check, options);
  const encryptionKeys = options.encryptionKeys ?? (process.env.POSTHORN_ENCRYPTION_KEYS || undefined);
  check.read("encryptionKeys", () => parseKeyRing(encryptionKeys));
  const flag = (name: "notifyDeadLetters" | "notifyCircuits" | "metricsEndpointLabel") =>
    check.read(name, () => yesOrNo(name, options[name] ?? true));
  const config = {
    database: check.read("database", () => readDatabase(options.database)),
    schema: check.read("schema", () => readSchema(options.schema ?? "posthorn")),
    encryptionKeys,
    addressPolicy,
    endpointDefaults: {
      ...endpointDefaults,
      formatContext: check.read("cloudEventsSource", () => readFormatContext(options, publicUrl)),
    },
    concurrency,
    leaseMs,
    maxEndpointsPerTenant,
    retention: {
      retentionDays,
      deadRetentionDays: check.read("deadRetentionDays", () =>
        optional(options.deadRetentionDays, (value) => within("deadRetentionDays", value, days)),
      ),
      idempotencyDays,
      auditDays,
    },
    userAgent: endpointDefaults.userAgent,
    apiVersion,
    declaredTypes: check.read("events", () => new DeclaredTypes(options.events ?? {}, apiVersion)),
    catalogue: check.read("catalogue", () =>
      oneOf("catalogue", options.catalogue ?? "auto", CATALOGUE_MODES),
    ),
    operatorTenant: check.read("operatorTenant", () => optional(options.operatorTenant, readOperatorTenant)),
    reports: { deadLetters: flag("notifyDeadLetters"), circuits: flag("notifyCircuits") },
    sendMail: check.read("sendMail", () => optional(options.sendMail, (send) => readSendMail(send, options))),
    alertWebhookUrl: check.read("alertWebhookUrl", () =>
      optional(options.alertWebhookUrl, (url) => readAlertWebhookUrl(url, addressPolicy)),
    ),
    publicUrl,
    customerPortalUrl: check.read("customerPortalUrl", () =>
      readPublicUrl("customerPortalUrl", options.customerPortalUrl),
    ),
    /** Null if this installation is not a hub. */
    websub: check.read("websub", () => resolveWebSub(check, options.websub, publicUrl, addressPolicy)),
    sources: check.read("sources", () => resolveSources(check, options.sources)),
    deliveryMode: check.read("enabled", () => readDeliveryMode(options.enabled ?? true)),
    metricsEndpointLabel: flag("metricsEndpointLabel"),
    actor: check.read("actor", () => optional(options.actor, readActor)),
    logger: options.logger ?? silentLogger,
  };
  check.finish();
  return config;
}

/** Returns what `resolveConfig` throws for the options. */
export function optionProblems(options: PosthornOptions): readonly InputProblem[] {
  try {
    resolveConfig(options);
    return [];
  } catch (error) {
    if (error instanceof PosthornError) return error.problems;
    throw error;
  }
}

function readDatabase(database: pg.Pool | string): pg.Pool | string {
  if (database !== undefined && database !== "") return database;
  throw invalid("database is missing: pass a pg Pool or a connection string.");
}

function readSchema(schema: string): string {
  if (typeof schema === "string" && isSchemaName(schema)) return schema;
  throw invalid(
    `schema must be 1 to 63 letters, digits, _ and -, and must not start with a digit; it is ${shown(schema)}.`,
  );
}

function readAddressPolicy(check: OptionCheck, options: PosthornOptions): AddressPolicy {
  const flag = (name: "allowHttp" | "allowNat64") =>
    check.read(name, () => yesOrNo(name, options[name] ?? false), false);
  return {
    ...parseAddressPolicy({ allowHttp: flag("allowHttp"), allowNat64: flag("allowNat64") }),
    allowedCidrs: check.read("allowCidrs", () => readRanges("allowCidrs", options.allowCidrs), []),
  };
}

function readDeliveryMode(enabled: boolean | DeliveryMode): DeliveryMode {
  if (typeof enabled === "boolean") return enabled ? "on" : "hold";
  if (DELIVERY_MODES.includes(enabled)) return enabled;
  throw invalid(`enabled must be true, false, ${DELIVERY_MODES.join(", ")}; it is ${shown(enabled)}.`);
}

function readApiVersion(text: string): string {
  if (typeof text === "string" && apiVersionSyntax.test(text)) return text;
  throw invalid(`apiVersion must be ${apiVersionSyntaxInWords}, such as 2026-06-01; it is ${shown(text)}.`);
}

function readFormatContext({ cloudEventsSource }: PosthornOptions, publicUrl: string | null): FormatContext {
  const datarefBase = (publicUrl ?? "").replace(/\/+$/, "");
  const source = cloudEventsSource ?? `${datarefBase}/tenants/{tenant}`;
  if (typeof source === "string" && isUriReference(source.replaceAll("{tenant}", "t")))
    return { source, datarefBase };
  throw invalid(
    `cloudEventsSource must be a URI reference such as https://shop.example/{tenant}; it is ${shown(source)}.`,
  );
}

function optional<Value>(value: Value | undefined, read: (value: Value) => Value): Value | null {
  return value === undefined ? null : read(value);
}

export function readActor(actor: string): string {
  if (typeof actor === "string" && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(actor)) return actor;
  throw invalid(`actor must be 1 to 200 characters without control characters; it is ${shown(actor)}.`);
}

function readOperatorTenant(id: string): string {
  if (typeof id === "string" && tenantSyntax.test(id)) return id;
  throw invalid(`operatorTenant must be a tenant's id; it is ${shown(id)}.`);
}

function readSendMail(send: SendMail, { publicUrl, customerPortalUrl }: PosthornOptions): SendMail {
  if (typeof send !== "function")
    throw invalid(`sendMail must be a function that sends { to, subject, text }; it is ${shown(send)}.`);
  if (publicUrl === undefined && customerPortalUrl === undefined)
    throw invalid("sendMail needs publicUrl or customerPortalUrl, because every mail has a link.");
  return send;
}

/** The URL is a secret, so the error does not quote it. */
function readAlertWebhookUrl(url: string, policy: AddressPolicy): string {
  const check = checkUrl(String(url), policy);
  if (check.ok) return check.href;
  throw invalid(`alertWebhookUrl: ${check.problem.message}`);
}

function readPublicUrl(name: string, url: string | undefined): string | null {
  if (url === undefined) return null;
  if (typeof url === "string" && /^https?:\/\/[!-~]{1,2000}$/.test(url) && parseUrl(url) !== null) return url;
  throw invalid(`${name} must be a URL such as https://hooks.example.com; it is ${shown(url)}.`);
}
