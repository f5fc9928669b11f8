// Every setting of an endpoint, defined once. The API contract, the library's parser, columns, command-line options, form
// fields and the reference page are derived from here.
import { DEFAULT_HEADER_PREFIX } from "../headers.ts";
import { snakeCase } from "../letter-case.ts";
import { DEFAULT_SCHEMES } from "../signature/schemes.ts";
import { RETRY_PRESET_NAMES, RETRY_PRESETS } from "./presets.ts";
import { presetsText } from "./retry-schedule.ts";
import type { ColumnType, Setting, SettingName, Shape } from "./setting.ts";

export const endpointSettings = {
  url: {
    kind: "text",
    description: "The URL that deliveries are sent to.",
    inputNote:
      "It uses https and leads to an address that is reachable from the internet, unless the deployment allows others.",
    example: "https://example.com/webhooks",
    isRequired: true,
    redacted: "query",
    group: "address",
    onlyPerEndpoint: "It identifies the receiver.",
  },
  name: {
    kind: "text",
    maxLength: 100,
    description: "A short name, shown in place of the URL. Names of a tenant's endpoints may be the same.",
    inputNote: "It has no control characters. The host itself counts as no name.",
    example: "Billing",
    defaultText: "the host of the URL",
    flag: { option: "--name <name>", about: "a short name (default: the host of the URL)" },
    group: "address",
    onlyPerEndpoint: "It names one endpoint.",
  },
  description: {
    kind: "text",
    maxLength: 500,
    description: "What the endpoint is for, in the tenant's words.",
    default: null,
    nullText: "Null means no description.",
    flag: { option: "--description <text>", about: "what the endpoint is for" },
    group: "address",
    onlyPerEndpoint: "It describes one endpoint.",
  },
  events: {
    kind: "list",
    minItems: 1,
    maxItems: 100,
    description: "The event types to deliver: exact types, prefixes such as `order.*`, or `*` for all.",
    example: ["order.paid", "invoice.*"],
    isRequired: true,
    flag: {
      option: "--events <types>",
      about: "separated by commas: order.paid,invoice.* (a new endpoint's default: all)",
    },
    group: "address",
    see: "An exact type must be registered when [the catalogue](catalogue.md#strict-and-open) is strict.",
    onlyPerEndpoint: "A tenant subscribes to events for one receiver.",
  },
  filter: {
    kind: "filter",
    description: "Conditions that an event must meet, in addition to its type, to be delivered.",
    example: { data: { amount: { $gte: 100 } }, subject: { $startsWith: "order-" } },
    default: null,
    nullText: "Null means no conditions.",
    see: "See [filters](filters.md).",
    onlyPerEndpoint: "A tenant subscribes to events for one receiver.",
  },
  isActive: {
    kind: "boolean",
    description: "False: nothing is sent, and deliveries are kept.",
    inputNote: "Setting it to true delivers the events that were held. A new endpoint is active by default.",
    default: true,
    isNeverNull: true,
    see: "See [disabled endpoints](endpoint-health.md#disabled-endpoints).",
    onlyPerEndpoint: "It is the state of one endpoint.",
  },
  format: {
    kind: "choice",
    values: [
      "envelope",
      "data",
      "thin",
      "cloudevents",
      "cloudevents-binary",
      "cloudevents-thin",
      "cloudevents-batch",
    ],
    description:
      "The body of a request. `envelope`: the data with its id, type and time. `data`: the data alone. `thin`: id, type and subject without the data. Or a CloudEvent: `cloudevents` as one JSON document, `cloudevents-binary` with its attributes in headers, `cloudevents-thin` with a `dataref` in place of the data, `cloudevents-batch` many in one request.",
    default: "envelope",
    deploymentOption: "format",
    flag: { option: "--format <format>", about: "the body of a request" },
    group: "sending",
    see: "See [the request](deliveries.md#the-request) and [CloudEvents](cloudevents.md).",
  },
  envelopeFields: {
    kind: "map",
    description:
      "Other names of fields in the formats `envelope` and `thin`, by their own: with `tenant_id: team_id`, the envelope has `team_id` in place of `tenant_id`.",
    inputNote: "Two fields cannot have the same name. They replace those of the deployment as a whole.",
    example: { tenant_id: "team_id" },
    default: {},
    defaultText: "none",
    deploymentOption: "envelopeFields",
    group: "sending",
    see: "See [the request](deliveries.md#the-request).",
  },
  batch: {
    kind: "object",
    isPartial: true,
    description:
      "The limits of a batch, for the format `cloudevents-batch`. A batch is sent when it reaches the first of them.",
    inputNote: "Fields that are left out use their default.",
    fields: {
      maxEvents: {
        kind: "integer",
        deploymentOption: "batchMaxEvents",
        min: 1,
        max: 1_000,
        description: "Events in a batch.",
        flag: { option: "--batch-events <number>", about: "events in a batch of cloudevents-batch" },
      },
      maxBytes: {
        kind: "integer",
        deploymentOption: "batchMaxBytes",
        min: 1_024,
        max: 4_194_304,
        description: "Bytes in the body. An event that is larger is sent alone.",
        flag: { option: "--batch-bytes <number>", about: "bytes in the body of a batch" },
      },
      maxDelayMs: {
        kind: "integer",
        deploymentOption: "batchMaxDelayMs",
        min: 10,
        max: 3_600_000,
        description: "Milliseconds that the first event waits for others.",
        flag: { option: "--batch-delay-ms <number>", about: "how long the first event of a batch waits" },
      },
    },
    // Half of what many receivers accept, and no longer than a person would notice.
    default: { maxEvents: 100, maxBytes: 524_288, maxDelayMs: 1_000 },
    defaultText: "100 events, 512 KiB and one second",
    group: "sending",
    see: "See [batches](cloudevents.md#batches).",
  },
  signature: {
    kind: "object",
    isPartial: true,
    description: "How deliveries are signed.",
    inputNote: "Fields that are left out use their default.",
    fields: {
      headerPrefix: {
        kind: "text",
        deploymentOption: "headerPrefix",
        description: "The prefix of Posthorn's header names, such as X-Webhook.",
        flag: { option: "--header-prefix <prefix>", about: "the prefix of header names" },
      },
      schemes: {
        kind: "list",
        minItems: 1,
        maxItems: 100,
        deploymentOption: "signatureSchemes",
        description:
          "One or more of t-v1, sha256, sha512, two-headers, sha256:<label>, sha512:<label>, two-headers:<label>, standard-webhooks, standard-webhooks-v1a, rfc9421, rfc9421-ed25519, or a vendor whose receivers are to accept it: github, stripe, slack and others. See the reference of signatures.",
      },
    },
    default: { schemes: DEFAULT_SCHEMES, headerPrefix: DEFAULT_HEADER_PREFIX },
    defaultText: `${DEFAULT_SCHEMES.join(" and ")} with the prefix ${DEFAULT_HEADER_PREFIX}`,
    group: "signature",
    see: "See [signatures](deliveries.md#signatures) and [vendor schemes](deliveries.md#vendor-schemes).",
  },
  authorization: {
    kind: "object",
    description: "A token by which the receiver recognises the sender.",
    inputNote: "The token is stored encrypted and never returned.",
    fields: {
      type: {
        kind: "choice",
        values: ["bearer", "query"],
        description: "`bearer`: in the Authorization header. `query`: as `access_token` in the URL's query.",
      },
      token: {
        kind: "text",
        maxLength: 4096,
        description: "The token. If it is left out, the current one stays.",
        isOptional: true,
        isSecret: true,
      },
    },
    default: null,
    nullText: "Null means no token.",
    column: { name: "authorization_type", type: "text" },
    group: "consent",
    see: "See [the request](deliveries.md#the-request).",
    onlyPerEndpoint: "A token is a secret of one receiver.",
  },
  userAgent: {
    kind: "text",
    maxLength: 256,
    description: "The User-Agent header, in printable ASCII.",
    default: "Posthorn/1",
    deploymentOption: "userAgent",
    flag: { option: "--user-agent <text>", about: "the User-Agent header" },
    group: "sending",
  },
  headers: {
    kind: "map",
    description: "Additional request headers, as names and values.",
    inputNote: "They cannot replace Posthorn's own, and they replace those of the deployment as a whole.",
    example: { "X-Team": "billing" },
    default: {},
    defaultText: "none",
    deploymentOption: "headers",
    redacted: "values",
    group: "sending",
  },
  handshake: {
    kind: "object",
    description:
      "The endpoint is asked by OPTIONS whether it accepts webhooks, and receives none until it agrees.",
    fields: {
      origin: {
        kind: "text",
        description: "The DNS name of the sender, sent as `WebHook-Request-Origin`.",
        example: "hooks.example.com",
      },
      rate: {
        kind: "integer",
        min: 1,
        max: 600_000,
        description: "Requests per minute to ask for. Null asks for no particular rate.",
        isOptional: true,
        isNullable: true,
        flag: { option: "--handshake-rate <number>", about: "requests per minute to ask for" },
      },
    },
    default: null,
    nullText: "Null means it is not asked.",
    // In a separate table, together with the endpoint's consent.
    column: null,
    group: "consent",
    see: "Shown with the read-only fields `state`, `allowed_rate`, `detail`, `requested_at` and `decided_at`. See [handshake](deliveries.md#handshake).",
    onlyPerEndpoint: "A receiver agrees for itself.",
  },
  timeoutMs: {
    kind: "integer",
    min: 100,
    max: 60_000,
    description: "The time limit of one attempt, in milliseconds.",
    default: 10_000,
    flag: { option: "--timeout-ms <number>", about: "the time limit of one attempt" },
    deploymentOption: "timeoutMs",
    group: "pace",
  },
  maxInFlight: {
    kind: "integer",
    min: 1,
    max: 100,
    description:
      "Attempts in flight at a time, across all processes, unless `max_in_flight_burst` allows more.",
    default: 5,
    deploymentOption: "endpointConcurrency",
    flag: { option: "--max-in-flight <number>", about: "attempts in flight at a time" },
    group: "pace",
  },
  maxInFlightBurst: {
    kind: "integer",
    min: 1,
    max: 100,
    description:
      "Attempts in flight at a time while responses are fast and successful. A value of at most `max_in_flight` allows no more than that.",
    default: 50,
    deploymentOption: "endpointConcurrencyBurst",
    followsSetting: "maxInFlight",
    nullText:
      "Null uses `max_in_flight` if the endpoint sets that, else the deployment default (50 unless configured).",
    flag: {
      option: "--max-in-flight-burst <number>",
      about: "attempts in flight at a time while responses are fast and successful",
    },
    group: "pace",
    see: "See [attempts in flight](endpoint-health.md#attempts-in-flight).",
  },
  rateLimit: {
    kind: "integer",
    min: 1,
    max: 10_000,
    description: "Attempts started per second, across all processes.",
    default: null,
    defaultText: "no limit",
    nullText: "Null means no limit.",
    deploymentOption: "endpointRateLimit",
    flag: { option: "--rate-limit <number>", about: "attempts started per second" },
    group: "pace",
  },
  retryPolicy: {
    kind: "retry-policy",
    presets: RETRY_PRESET_NAMES,
    description: "When and how often a failed delivery is retried.",
    default: RETRY_PRESETS.courier,
    defaultText: "`courier`",
    deploymentOption: "retryPolicy",
    flag: {
      option: "--retry-policy <policy>",
      about: `when failures are retried: ${presetsText()}; gaps such as 30s,5m,1h; or a JSON object`,
    },
    group: "retries",
    see: "See [responses](deliveries.md#responses).",
  },
  retryOn: {
    kind: "choice",
    values: ["transient", "every"],
    description:
      "Which failures are retried. `transient`: 408, 429, 5xx and missing responses. `every`: also all other responses except 2xx and 410.",
    default: "transient",
    deploymentOption: "retryOn",
    group: "retries",
  },
  circuitBreaker: {
    kind: "object",
    isPartial: true,
    description: "When the endpoint's circuit opens, which pauses its deliveries.",
    inputNote: "Fields that are left out use their default.",
    fields: {
      failures: {
        kind: "integer",
        min: 0,
        max: 10_000,
        deploymentOption: "circuitFailures",
        description: "Consecutive failures that open the circuit. 0: neither these nor `failure_percent` do.",
        flag: { option: "--circuit-failures <number>", about: "consecutive failures that open the circuit" },
      },
      failurePercent: {
        kind: "integer",
        min: 0,
        max: 100,
        deploymentOption: "circuitFailurePercent",
        description:
          "Percentage of failed attempts within a minute (of 20 or more) that opens the circuit. 0: no percentage does.",
        flag: {
          option: "--circuit-failure-percent <number>",
          about: "percentage of failed attempts within a minute that opens the circuit",
        },
      },
      failuresPerHour: {
        kind: "integer",
        min: 0,
        max: 10_000,
        deploymentOption: "circuitFailuresPerHour",
        description:
          "Failures within an hour, with or without successes between them, that open the circuit; counted anew after it has opened. 0: no number does.",
        flag: {
          option: "--circuit-failures-per-hour <number>",
          about: "failures within an hour that open the circuit",
        },
      },
      pauseMs: {
        kind: "integer",
        min: 100,
        max: 3_600_000,
        deploymentOption: "circuitPauseMs",
        description:
          "Milliseconds that the circuit stays open before a probe; doubled by every failed probe, up to 5 minutes.",
        flag: {
          option: "--circuit-pause-ms <number>",
          about: "how long the circuit stays open before a probe",
        },
      },
    },
    default: { failures: 10, failurePercent: 50, failuresPerHour: 0, pauseMs: 30_000 },
    defaultText: "10 consecutive failures, or 50 % in a minute; a probe after 30 seconds",
    group: "health",
    see: "See [the circuit](endpoint-health.md#circuit).",
  },
  disableAfter: {
    kind: "object",
    isPartial: true,
    description: "When the endpoint is disabled because it fails.",
    inputNote: "Fields that are left out use their default.",
    fields: {
      failures: {
        kind: "integer",
        min: 0,
        max: 1_000_000,
        deploymentOption: "disableAfterFailures",
        description: "Consecutive failures that disable it. 0: never.",
        flag: {
          option: "--disable-after-failures <number>",
          about: "consecutive failures that disable the endpoint",
        },
      },
      days: {
        kind: "integer",
        min: 0,
        max: 365,
        deploymentOption: "disableAfterDays",
        description: "Days with failures and without a success that disable it. 0: never.",
        flag: {
          option: "--disable-after-days <number>",
          about: "days with failures and without a success that disable the endpoint",
        },
      },
    },
    default: { failures: 50, days: 5 },
    defaultText: "50 consecutive failures, or 5 days without a success",
    group: "health",
    see: "See [disabled endpoints](endpoint-health.md#disabled-endpoints).",
  },
  ordering: {
    kind: "choice",
    values: ["none", "fifo"],
    description: "`fifo`: the events of a subject are sent one by one, in the order of their sequence.",
    inputNote: "The format `cloudevents-batch` has no order, and the default does not apply to it.",
    default: "none",
    deploymentOption: "ordering",
    group: "order",
    see: "See [ordering](ordering.md).",
  },
  fifoOnDead: {
    kind: "choice",
    values: ["pass", "hold"],
    description:
      "With `fifo`: after a dead delivery, the later ones of its subject are sent (`pass`) or wait until it is retried (`hold`).",
    default: "pass",
    deploymentOption: "fifoOnDead",
    group: "order",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export const SETTING_NAMES = Object.keys(endpointSettings) as SettingName[];

/** A definition without its literal types, for code that treats all settings alike. */
export function definitionOf(name: SettingName): Setting {
  return endpointSettings[name];
}

const COLUMN_TYPES: Readonly<Record<Shape["kind"], ColumnType>> = {
  text: "text",
  boolean: "boolean",
  integer: "integer",
  choice: "text",
  list: "text[]",
  map: "jsonb",
  object: "jsonb",
  "retry-policy": "jsonb",
  filter: "jsonb",
};

/** The column that stores a setting; null if it has none. */
export function columnOf(name: SettingName): { readonly name: string; readonly type: ColumnType } | null {
  const { kind, column = { name: snakeCase(name), type: COLUMN_TYPES[kind] } } = definitionOf(name);
  return column;
}
