// Endpoints: where a tenant's events go, and how.
import { z } from "zod";
import { attempt } from "../deliveries.ts";
import { operation, type Permission } from "../operation.ts";
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
  time,
} from "../parts.ts";
import { endpoint, endpointImport, endpointInput, endpointPatch } from "./endpoint.ts";
import { filter } from "./setting-schemas.ts";

const secret = z
  .string()
  .describe("What its deliveries are signed with, `whsec_…` or `whsk_…`. Shown this once.");

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
    is_current: z.boolean().describe("True for one that stays; the others are on their way out."),
    scheme: z
      .string()
      .nullable()
      .describe(
        "The one signature scheme that signs with it; null: every one that has no secret of its own.",
      ),
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
        .enum(["active", "disabled", "failing", "websub"])
        .optional()
        .describe(
          "Only those that are `active`; `disabled`, by whomever; `failing`: active, and without a success since a failure; or `websub`: of somebody who subscribed by WebSub.",
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
      409: ["endpoint_disabled", "endpoint_not_agreed", "tenant_inactive"],
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
      secret: z
        .string()
        .optional()
        .describe("One of your own, of a kind that its schemes sign with; left out: one is made."),
      scheme: z
        .string()
        .optional()
        .describe(
          "Gives this signature scheme a secret of its own, and leaves those of the others as they are.",
        ),
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
      schema: z.object({ data: z.array(endpointSecret).describe("Those that are valid now.") }),
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
