// Endpoints: where a tenant's events go, and how.
import { z } from "zod";
import { attempt } from "./deliveries.ts";
import { operation, type Permission } from "./operation.ts";
import {
  createdAt,
  deliveryId,
  endpointId,
  eventId,
  eventType,
  listQuery,
  nothing,
  page,
  secretId,
  tenantFilter,
  tenantId,
  time,
  updatedAt,
} from "./parts.ts";

const format = z
  .enum([
    "envelope",
    "data",
    "thin",
    "cloudevents",
    "cloudevents-binary",
    "cloudevents-thin",
    "cloudevents-batch",
  ])
  .describe(
    "What is sent: `envelope`, the data with its id, type and time; `data`, the bare data; `thin`, id, type and subject alone; or a CloudEvent: `cloudevents` in one JSON document, `cloudevents-binary` with its attributes in headers, `cloudevents-thin` with a `dataref` in place of the data, `cloudevents-batch` many in one request.",
  );
const batch = z
  .object({
    max_events: z.int().meta({ description: "Events in a batch.", minimum: 1, maximum: 1_000 }),
    max_bytes: z.int().meta({
      description: "Bytes of its body; one event that is longer goes alone.",
      minimum: 1_024,
      maximum: 4_194_304,
    }),
    max_delay_ms: z.int().meta({
      description: "Milliseconds that its first event waits for others.",
      minimum: 10,
      maximum: 3_600_000,
    }),
  })
  .describe("Of the format `cloudevents-batch`: a batch goes when the first of these is reached.");
const retryOn = z
  .enum(["transient", "every"])
  .describe(
    "Which answers are tried again: `transient`, 408, 429, 5xx and none at all; `every`, all but 2xx and 410.",
  );
const ordering = z
  .enum(["none", "fifo"])
  .describe("`none`, or `fifo`: the events of a subject one by one, in the order of their sequence.");
const fifoOnDead = z
  .enum(["pass", "hold"])
  .describe(
    "With `fifo`: a dead delivery lets those after it in its subject `pass`, or will `hold` them up.",
  );
const secret = z
  .string()
  .describe("What its deliveries are signed with, `whsec_…` or `whsk_…`. Shown this once.");

const signature = z
  .object({
    schemes: z
      .array(z.string())
      .describe("One or more of t-v1, sha256, two-headers, standard-webhooks, standard-webhooks-v1a."),
    header_prefix: z.string().describe("What the names of Posthorn's headers begin with, such as X-Webhook."),
  })
  .describe("How its deliveries are signed.");

/** Taken as it is: the library reads it, and zod would drop a field named `__proto__`. */
const filter = z.unknown().meta({
  id: "Filter",
  type: "object",
  description:
    "What an event must have, besides its type, to be delivered; null: nothing. See the reference of filters.",
  examples: [{ data: { amount: { $gte: 100 } }, subject: { $startsWith: "order-" } }],
});

const filterOrNone = filter
  .nullable()
  .describe(
    "What an event must have, besides its type, to be delivered; null: nothing. See the reference of filters.",
  );

/** As an endpoint shows it; it may be sent back as it is. */
const retryPolicy = z
  .object({
    kind: z
      .enum(["gaps", "exponential"])
      .describe("Whether it has `gaps_ms`, or `base_ms`, `cap_ms` and `max_attempts`."),
    gaps_ms: z
      .array(z.int())
      .optional()
      .describe("Of `gaps`: milliseconds from one attempt to the next, ±10 %; one attempt more than gaps."),
    base_ms: z
      .int()
      .optional()
      .describe("Of `exponential`: longest first wait in milliseconds, doubled by every failure."),
    cap_ms: z.int().optional().describe("Of `exponential`: longest wait there is, in milliseconds."),
    max_attempts: z.int().optional().describe("Of `exponential`: attempts in all, 1 to 101."),
    max_age_ms: z
      .int()
      .optional()
      .describe(
        "No attempt is made when the event would be older than this, in milliseconds; without it there is no such limit.",
      ),
  })
  .meta({ id: "RetryPolicy" });

const duration = z.string().meta({ examples: ["30s"] });
const maxAge = duration
  .optional()
  .describe("No attempt is made when the event would be older than this; left out: no such limit.");

/** The ways to write one, apart, for the reader; what is checked is one object with the fields of all. */
const retryPolicyWays = [
  z.string().meta({
    title: "a preset or gaps",
    description:
      "`courier` (1m, 5m, 15m, 1h, 6h), `short` (30s, 2m, 15m, 1h, 4h), `exponential` (12 attempts, 1m doubled up to 1d), `quick` (1s doubled, 10 attempts), or up to 100 gaps with units ms, s, m, h or d.",
    examples: ["courier", "30s,5m,1h"],
  }),
  z
    .strictObject({
      gaps: z.array(duration).meta({
        description:
          "Time from one attempt to the next, ±10 %, each at most 30d. None at all means one attempt.",
        maxItems: 100,
        examples: [["30s", "5m", "1h"]],
      }),
      max_age: maxAge,
    })
    .meta({ title: "gaps", description: "Gaps one by one." }),
  z
    .strictObject({
      exponential: z
        .strictObject({
          base: duration.describe(
            "Longest first wait; doubled by every failure, and what is waited is by chance from 0 up to it.",
          ),
          cap: duration.describe("Longest wait there is, at most 30d."),
          max_attempts: z.int().meta({ description: "Attempts in all.", minimum: 1, maximum: 101 }),
        })
        .describe("How the waits grow."),
      max_age: maxAge,
    })
    .meta({ title: "exponential", description: "Waits that double." }),
  z.strictObject(retryPolicy.shape).meta({ title: "as shown", description: "As an endpoint shows it." }),
] as const;

const retryPolicyInput = z
  .union([
    z.string(),
    z.strictObject({
      gaps: z.array(z.string()).optional(),
      exponential: z
        .strictObject({ base: z.string(), cap: z.string(), max_attempts: z.int() })
        .partial()
        .optional(),
      max_age: z.string().optional(),
      ...z.strictObject(retryPolicy.shape).partial().shape,
    }),
  ])
  .meta({
    id: "RetryPolicyInput",
    description: "When a failed delivery is tried again, and how often, in one of these ways.",
    oneOf: retryPolicyWays.map((way) => {
      const { $schema: _, ...schema } = z.toJSONSchema(way, { io: "input" });
      return schema;
    }),
  });

const lastDay = z.object({
  success: z.int().describe("Attempts that were answered with 2xx."),
  failed: z.int().describe("Attempts that were not."),
  success_share: z.number().describe("Of all of them, from 0 to 1."),
  points: z
    .array(
      z.object({
        at: time.describe("When the hour began, in UTC."),
        success: z.int().describe("Attempts of this hour that were answered with 2xx."),
        failed: z.int().describe("Attempts of this hour that were not."),
      }),
    )
    .describe("24 of them, hour by hour, the oldest first; the last one is the hour that has begun."),
});

export const endpoint = z
  .object({
    id: endpointId,
    tenant: tenantId,
    url: z.string().describe("Where deliveries go. Its query is masked without webhooks:manage."),
    description: z.string().nullable().describe("What it is for, in the tenant's words; null without one."),
    events: z
      .array(z.string())
      .describe("Which events it gets: exact types, prefixes such as `order.*`, or `*`."),
    filter: filterOrNone,
    is_active: z.boolean().describe("False: nothing is sent to it, and what is for it is kept."),
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        "`manual`, `gone` (it answered 410), `failures` (too many in a row) or `no_success` (for days); null while it is active.",
      ),
    disabled_at: time.nullable().describe("Since when nothing is sent to it; null while it is active."),
    format,
    signature,
    headers: z
      .record(z.string(), z.string())
      .describe("Headers that are sent besides. The values are masked without webhooks:manage."),
    timeout_ms: z.int().describe("Longest time of one attempt, in milliseconds."),
    max_in_flight: z.int().describe("Attempts at a time, across all processes."),
    rate_limit: z
      .int()
      .nullable()
      .describe("Attempts started per second, across all processes; null: no limit."),
    ordering,
    fifo_on_dead: fifoOnDead,
    batch,
    retry_policy: retryPolicy.describe("When a failed delivery is tried again, and how often."),
    retry_on: retryOn,
    circuit: z
      .enum(["closed", "open", "half_open"])
      .describe(
        "`closed`: all is sent. `open`: it failed too often, and nothing is sent for a while. `half_open`: it is being tried.",
      ),
    health: z
      .object({
        consecutive_failures: z.int().describe("Failures in a row since the last success."),
        failing_since: time.nullable().describe("When the first of them was; null without one."),
        last_error: z.string().nullable().describe("What went wrong last; null after a success."),
        probe_at: time.nullable().describe("When an open circuit is tried next; null unless it is open."),
        throttled_until: time
          .nullable()
          .describe("Until when nothing is sent because it answered 429 or 503; null otherwise."),
        last_day: lastDay.nullable().describe("Its attempts of the last 24 hours; null without any."),
      })
      .describe("How it has done since its last success, and in the last day."),
    websub: z
      .object({
        topic: z.string().describe("The topic's URL. Its query is masked without webhooks:manage."),
        lease_ends_at: time.describe("When it ends unless its subscriber renews it."),
      })
      .nullable()
      .describe(
        "Null unless somebody subscribed by WebSub. Such an endpoint can be read and deleted, and is changed by its subscriber alone.",
      ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Endpoint" });
export type Endpoint = z.output<typeof endpoint>;

function orDeployments<Setting extends z.ZodType>(setting: Setting, usual: string) {
  const description = `${setting.description} Null: as the deployment is set, ${usual} unless told.`;
  return setting.nullable().describe(description);
}

const endpointPatch = z
  .strictObject({
    url: z.string().meta({
      description:
        "Where deliveries go: https, and an address that is reachable from the internet, unless the deployment allows others.",
      examples: ["https://example.com/webhooks"],
    }),
    description: z
      .string()
      .nullable()
      .meta({ description: "What it is for, in the tenant's words; null takes it away.", maxLength: 500 }),
    events: z.array(z.string()).meta({
      description: "Which events it gets: exact types, prefixes such as `order.*`, or `*` for all.",
      minItems: 1,
      maxItems: 100,
      examples: [["order.paid", "invoice.*"]],
    }),
    is_active: z
      .boolean()
      .describe(
        "False disables it and keeps what it is owed; true enables it and delivers that. A new one is active unless told.",
      ),
    format: orDeployments(format, "`envelope`"),
    signature: orDeployments(
      z.strictObject(signature.shape).partial().describe("How its deliveries are signed, in part or whole."),
      "t-v1 and standard-webhooks, with the prefix X-Webhook",
    ),
    headers: z
      .record(z.string(), z.string())
      .nullable()
      .meta({
        description:
          "Headers that are sent besides: names and values. They cannot replace Posthorn's own; null takes them away.",
        examples: [{ "X-Team": "billing" }],
      }),
    timeout_ms: orDeployments(
      z.int().describe("Longest time of one attempt, in milliseconds."),
      "10000",
    ).meta({
      minimum: 100,
      maximum: 60_000,
    }),
    max_in_flight: orDeployments(z.int().describe("Attempts at a time, across all processes."), "5").meta({
      minimum: 1,
      maximum: 100,
    }),
    rate_limit: z.int().nullable().meta({
      description: "Attempts started per second, across all processes; null: no limit.",
      minimum: 1,
      maximum: 10_000,
    }),
    retry_policy: retryPolicyInput
      .nullable()
      .describe(
        "When a failed delivery is tried again, and how often. Null: as the deployment is set, `courier` unless told.",
      ),
    retry_on: orDeployments(retryOn, "`transient`"),
    ordering: orDeployments(ordering, "`none`"),
    fifo_on_dead: orDeployments(fifoOnDead, "`pass`"),
    filter: filterOrNone,
    batch: orDeployments(
      z.strictObject(batch.shape).partial().describe(`${batch.description} In part or whole.`),
      "100 events, 512 KiB and one second",
    ),
  })
  .partial()
  .meta({ id: "EndpointPatch" });

/** A secret of one's own can be brought along, but not put in later: that is what rotation is for. */
const endpointInput = z
  .strictObject({
    ...endpointPatch.shape,
    url: endpointPatch.shape.url.unwrap(),
    events: endpointPatch.shape.events.unwrap(),
    secret: z
      .string()
      .optional()
      .describe("A secret of your own to sign with, `whsec_…` or `whsk_…`; left out: one is made."),
  })
  .meta({ id: "EndpointInput" });

/** What an endpoint shows and nobody sets. */
const readOnly = endpoint
  .pick({
    tenant: true,
    disabled_reason: true,
    disabled_at: true,
    circuit: true,
    health: true,
    websub: true,
    created_at: true,
    updated_at: true,
  })
  .partial();

/** With `id` it changes that endpoint, without it makes one. What a list shows besides is passed over. */
const endpointImport = z
  .strictObject({
    ...endpointInput.shape,
    ...endpointPatch.shape,
    id: endpointId.optional().describe("Of the endpoint to change; left out: one is made."),
    ...readOnly.shape,
  })
  .meta({ id: "EndpointImport" });

const imported = z
  .object({
    dry_run: z.boolean().describe("Whether nothing was done, only checked."),
    endpoints: z
      .array(
        z.object({
          action: z
            .enum(["created", "updated", "unchanged"])
            .describe("What was done, or with `dry_run` would be."),
          id: endpointId.nullable().describe("Of the endpoint; null for one that a dry run would make."),
          url: z.string().describe("Where it sends to, as it was given."),
          secret: z.string().nullable().describe("Of a new one, shown this once; null otherwise."),
        }),
      )
      .describe("One for each that was given, in the same order."),
  })
  .meta({ id: "Imported" });

const matchResult = z
  .object({
    matches: z.boolean().describe("Whether the endpoint would get such an event."),
    reason: z.enum(["type", "filter"]).nullable().describe("What keeps it away; null when it matches."),
    detail: z.string().nullable().describe("The reason in a sentence; null when it matches."),
    pointer: z
      .string()
      .nullable()
      .describe("Of `filter`: JSON Pointer to the condition that does not hold; null otherwise."),
  })
  .meta({ id: "MatchResult" });

const endpointAttempt = attempt
  .extend({ delivery_id: deliveryId, event_id: eventId })
  .meta({ id: "EndpointAttempt" });
export type EndpointAttempt = z.output<typeof endpointAttempt>;

const endpointSecret = z
  .object({
    id: secretId,
    is_current: z.boolean().describe("True for the one that stays; the others are on their way out."),
    created_at: createdAt,
    expires_at: time.nullable().describe("Until when it signs beside the current one; null: it stays."),
  })
  .meta({ id: "EndpointSecret" });
export type EndpointSecret = z.output<typeof endpointSecret>;

const ofTenant = "/api/v1/tenants/{tenant}/endpoints";
const path = `${ofTenant}/{endpoint}` as const;
const reading: Permission = { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" };
const managing: Permission = { scopes: ["webhooks:manage"], reach: "tenant" };

export const endpoints = {
  create: operation({
    method: "POST",
    path: ofTenant,
    summary: "Makes an endpoint; its secret is shown this once",
    permission: managing,
    body: endpointInput,
    answer: { status: 201, schema: endpoint.extend({ secret }).meta({ id: "NewEndpoint" }) },
    refusals: { 404: ["tenant_not_found"], 409: ["endpoint_limit_reached"], 422: ["invalid_endpoint"] },
  }),
  list: operation({
    method: "GET",
    path: ofTenant,
    summary: "Lists the endpoints of a tenant",
    permission: reading,
    query: listQuery({}),
    answer: { status: 200, schema: page(endpoint) },
    refusals: { 404: ["tenant_not_found"] },
  }),
  listAll: operation({
    method: "GET",
    path: "/api/v1/endpoints",
    summary: "Lists endpoints of all tenants, newest first",
    permission: reading,
    query: listQuery({
      tenant: tenantFilter,
      state: z
        .enum(["active", "disabled", "failing"])
        .optional()
        .describe(
          "Only those that are `active`; `disabled`, by whomever; or `failing`: active, and without a success since a failure.",
        ),
    }),
    answer: { status: 200, schema: page(endpoint) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows an endpoint",
    permission: reading,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path,
    summary: "Changes the settings that are given",
    permission: managing,
    body: endpointPatch,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"], 422: ["invalid_endpoint"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes an endpoint and cancels what it is owed",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  import: operation({
    method: "POST",
    path: `${ofTenant}/import`,
    summary: "Makes and changes up to 500 endpoints, all or none; new secrets are shown this once",
    permission: managing,
    body: z.strictObject({
      endpoints: z
        .array(endpointImport)
        .meta({ description: "Those to make and to change, all or none.", minItems: 1, maxItems: 500 }),
      dry_run: z
        .boolean()
        .optional()
        .meta({ description: "Says what would be done, and does nothing.", default: false }),
    }),
    answer: { status: 200, schema: imported },
    refusals: {
      404: ["tenant_not_found", "endpoint_not_found"],
      409: ["endpoint_limit_reached"],
      422: ["invalid_endpoint"],
    },
  }),
  match: operation({
    method: "POST",
    path: `${path}/match`,
    summary: "Says whether it would get such an event, and if not why; nothing is published",
    permission: reading,
    isQuestion: true,
    body: z.strictObject({
      type: eventType,
      data: z.unknown().describe("The event's data, any JSON."),
      subject: z.string().nullable().optional().describe("The event's subject, if it has one."),
      filter: filter.nullable().optional().describe("To be tried in place of the endpoint's own."),
    }),
    answer: { status: 200, schema: matchResult },
    refusals: { 404: ["endpoint_not_found"], 422: ["invalid_event", "invalid_endpoint"] },
  }),
  listAttempts: operation({
    method: "GET",
    path: `${path}/attempts`,
    summary: "Lists its attempts, those of the newest delivery first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({}),
    answer: { status: 200, schema: page(endpointAttempt) },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  disable: operation({
    method: "POST",
    path: `${path}/disable`,
    summary: "Sends nothing to it from now on, and keeps what is for it",
    permission: managing,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  enable: operation({
    method: "POST",
    path: `${path}/enable`,
    summary: "Sends to it again, and delivers or discards what it is owed",
    permission: managing,
    body: z.strictObject({
      backlog: z.enum(["deliver", "discard"]).optional().meta({
        description: "What becomes of what waits for it: delivered, or dead with the reason `discarded`.",
        default: "deliver",
      }),
    }),
    isBodyOptional: true,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"], 422: ["invalid_endpoint"] },
  }),
  test: operation({
    method: "POST",
    path: `${path}/test`,
    summary: "Sends a test event to it, and to no other",
    permission: managing,
    body: z
      .strictObject({
        type: eventType
          .optional()
          .describe("Type of the event, whatever the endpoint asks for; left out: `webhook.test`."),
        data: z.unknown().describe("The event's data, any JSON; left out: a greeting."),
        subject: z.string().nullable().optional().describe("The event's subject; left out: none."),
      })
      .partial()
      .meta({ id: "TestEvent" }),
    isBodyOptional: true,
    answer: { status: 202, schema: z.object({ event_id: eventId, delivery_id: deliveryId }) },
    refusals: {
      404: ["endpoint_not_found"],
      409: ["endpoint_disabled", "tenant_inactive"],
      413: ["payload_too_large"],
      422: ["invalid_event"],
    },
  }),
  rotateSecret: operation({
    method: "POST",
    path: `${path}/rotate-secret`,
    summary: "Gives it a new secret, beside the old one for a while",
    permission: managing,
    body: z.strictObject({
      overlap_seconds: z.int().optional().meta({
        description:
          "How long the old secret signs beside the new one, in seconds: 7 days unless told, 14 at most; 0 revokes it at once.",
        minimum: 0,
        maximum: 1_209_600,
        default: 604_800,
      }),
    }),
    isBodyOptional: true,
    answer: {
      status: 200,
      schema: z.object({
        secret,
        previous_expires_at: time
          .nullable()
          .describe("Until when the old secret signs too; null: not any more."),
      }),
    },
    refusals: { 404: ["endpoint_not_found"], 409: ["too_many_secrets"], 422: ["invalid_endpoint"] },
  }),
  listSecrets: operation({
    method: "GET",
    path: `${path}/secrets`,
    summary: "Lists the secrets that it signs with, without the secrets themselves; the newest first",
    permission: managing,
    answer: {
      status: 200,
      schema: z.object({ data: z.array(endpointSecret).describe("Those that are valid now, five at most.") }),
    },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  revokeSecret: operation({
    method: "DELETE",
    path: `${path}/secrets/{secret}`,
    summary: "Ends a secret that a rotation has left valid, before its time",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["endpoint_not_found", "secret_not_found"], 409: ["secret_in_use"] },
  }),
};
