// Endpoints: where a tenant's events go, and how.
import { z } from "zod";
import { attempt } from "./deliveries.ts";
import { operation, type Permission } from "./operation.ts";
import {
  deliveryId,
  endpointId,
  eventId,
  eventType,
  listQuery,
  nothing,
  page,
  tenantId,
  time,
} from "./parts.ts";

const FORMATS = ["envelope", "data", "thin"] as const;
const RETRY_ON = ["transient", "every"] as const;
const ORDERINGS = ["none", "fifo"] as const;
const FIFO_ON_DEAD = ["pass", "hold"] as const;

const signature = z.object({ schemes: z.array(z.string()), header_prefix: z.string() });

/** Taken as it is: the library reads it, and zod would drop a field named `__proto__`. */
const filter = z.unknown().meta({
  id: "Filter",
  type: "object",
  description: "What an event must have to be delivered; see the reference of filters.",
  examples: [{ data: { amount: { $gte: 100 } }, subject: { $startsWith: "order-" } }],
});

/** As an endpoint shows it; it may be sent back as it is. */
const retryPolicy = z
  .object({
    kind: z.enum(["gaps", "exponential"]),
    gaps_ms: z.array(z.int()).optional(),
    base_ms: z.int().optional(),
    cap_ms: z.int().optional(),
    max_attempts: z.int().optional(),
    max_age_ms: z.int().optional(),
  })
  .meta({ id: "RetryPolicy" });

const retryPolicyInput = z
  .union([
    z.string().meta({ examples: ["courier", "30s,5m,1h"] }),
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
  .meta({ id: "RetryPolicyInput" });

export const endpoint = z
  .object({
    id: endpointId,
    tenant: tenantId,
    url: z.string().describe("Its query is masked without webhooks:manage."),
    description: z.string().nullable(),
    events: z.array(z.string()),
    filter: filter.nullable(),
    is_active: z.boolean(),
    disabled_reason: z.string().nullable(),
    disabled_at: time.nullable(),
    format: z.enum(FORMATS),
    signature,
    headers: z.record(z.string(), z.string()).describe("The values are masked without webhooks:manage."),
    timeout_ms: z.int(),
    max_in_flight: z.int(),
    rate_limit: z.int().nullable(),
    ordering: z.enum(ORDERINGS),
    fifo_on_dead: z.enum(FIFO_ON_DEAD),
    retry_policy: retryPolicy,
    retry_on: z.enum(RETRY_ON),
    circuit: z.enum(["closed", "open", "half_open"]),
    health: z.object({
      consecutive_failures: z.int(),
      failing_since: time.nullable(),
      last_error: z.string().nullable(),
      probe_at: time.nullable(),
      throttled_until: time.nullable(),
    }),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Endpoint" });
export type Endpoint = z.output<typeof endpoint>;

/** Null means: as the deployment is set. */
const endpointPatch = z
  .strictObject({
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.string()).meta({ minItems: 1, maxItems: 100, examples: [["order.paid", "invoice.*"]] }),
    is_active: z.boolean(),
    format: z.enum(FORMATS).nullable(),
    signature: z.strictObject(signature.shape).partial().nullable(),
    headers: z.record(z.string(), z.string()).nullable(),
    timeout_ms: z.int().nullable().meta({ minimum: 100, maximum: 60_000 }),
    max_in_flight: z.int().nullable().meta({ minimum: 1, maximum: 100 }),
    rate_limit: z.int().nullable().meta({ minimum: 1, maximum: 10_000 }),
    retry_policy: retryPolicyInput.nullable(),
    retry_on: z.enum(RETRY_ON).nullable(),
    ordering: z.enum(ORDERINGS).nullable(),
    fifo_on_dead: z.enum(FIFO_ON_DEAD).nullable(),
    filter: filter.nullable(),
  })
  .partial()
  .meta({ id: "EndpointPatch" });

/** A secret of one's own can be brought along, but not put in later: that is what rotation is for. */
const endpointInput = z
  .strictObject({
    ...endpointPatch.shape,
    url: z.string(),
    events: z.array(z.string()).optional(),
    secret: z.string().optional(),
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
    created_at: true,
    updated_at: true,
  })
  .partial();

/** With `id` it changes that endpoint, without it makes one. What a list shows besides is passed over. */
const endpointImport = z
  .strictObject({
    ...endpointInput.shape,
    url: z.string().optional(),
    id: endpointId.optional(),
    ...readOnly.shape,
  })
  .meta({ id: "EndpointImport" });

const imported = z
  .object({
    dry_run: z.boolean(),
    endpoints: z.array(
      z.object({
        action: z.enum(["created", "updated", "unchanged"]),
        id: endpointId.nullable().describe("Null for one that a dry run would make."),
        url: z.string(),
        secret: z.string().nullable().describe("Of a new one, shown this once."),
      }),
    ),
  })
  .meta({ id: "Imported" });

const matchResult = z
  .object({
    matches: z.boolean(),
    reason: z.enum(["type", "filter"]).nullable(),
    detail: z.string().nullable(),
    pointer: z.string().nullable().describe("To the condition of the filter that does not hold."),
  })
  .meta({ id: "MatchResult" });

const endpointAttempt = attempt
  .extend({ delivery_id: deliveryId, event_id: eventId })
  .meta({ id: "EndpointAttempt" });
export type EndpointAttempt = z.output<typeof endpointAttempt>;

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
    answer: { status: 201, schema: endpoint.extend({ secret: z.string() }).meta({ id: "NewEndpoint" }) },
  }),
  list: operation({
    method: "GET",
    path: ofTenant,
    summary: "Lists the endpoints of a tenant",
    permission: reading,
    query: listQuery({}),
    answer: { status: 200, schema: page(endpoint) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows an endpoint",
    permission: reading,
    answer: { status: 200, schema: endpoint },
  }),
  update: operation({
    method: "PATCH",
    path,
    summary: "Changes the settings that are given",
    permission: managing,
    body: endpointPatch,
    answer: { status: 200, schema: endpoint },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes an endpoint and cancels what it is owed",
    permission: managing,
    answer: { status: 204, schema: null },
  }),
  import: operation({
    method: "POST",
    path: `${ofTenant}/import`,
    summary: "Makes and changes up to 500 endpoints, all or none; new secrets are shown this once",
    permission: managing,
    body: z.strictObject({
      endpoints: z.array(endpointImport).meta({ minItems: 1, maxItems: 500 }),
      dry_run: z.boolean().optional().describe("Says what would be done, and does nothing."),
    }),
    answer: { status: 200, schema: imported },
  }),
  match: operation({
    method: "POST",
    path: `${path}/match`,
    summary: "Says whether it would get such an event, and if not why; nothing is published",
    permission: reading,
    isQuestion: true,
    body: z.strictObject({
      type: eventType,
      data: z.unknown(),
      subject: z.string().nullable().optional(),
      filter: filter.nullable().optional().describe("To be tried in place of the endpoint's own."),
    }),
    answer: { status: 200, schema: matchResult },
  }),
  listAttempts: operation({
    method: "GET",
    path: `${path}/attempts`,
    summary: "Lists its attempts, those of the newest delivery first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({}),
    answer: { status: 200, schema: page(endpointAttempt) },
  }),
  disable: operation({
    method: "POST",
    path: `${path}/disable`,
    summary: "Sends nothing to it from now on, and keeps what is for it",
    permission: managing,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: endpoint },
  }),
  enable: operation({
    method: "POST",
    path: `${path}/enable`,
    summary: "Sends to it again, and delivers or discards what it is owed",
    permission: managing,
    body: z.strictObject({ backlog: z.enum(["deliver", "discard"]).optional() }),
    isBodyOptional: true,
    answer: { status: 200, schema: endpoint },
  }),
  test: operation({
    method: "POST",
    path: `${path}/test`,
    summary: "Sends `webhook.test` to it",
    permission: managing,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 202, schema: z.object({ event_id: eventId, delivery_id: deliveryId }) },
  }),
  rotateSecret: operation({
    method: "POST",
    path: `${path}/rotate-secret`,
    summary: "Gives it a new secret, beside the old one for a while",
    permission: managing,
    body: z.strictObject({ overlap_seconds: z.int().optional().meta({ minimum: 0, maximum: 1_209_600 }) }),
    isBodyOptional: true,
    answer: { status: 200, schema: z.object({ secret: z.string(), previous_expires_at: time.nullable() }) },
  }),
};
