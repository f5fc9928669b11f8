// Operations on endpoints, their secrets and attempts.
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

const secret = z.string().describe("Signing secret, `whsec_…` or `whsk_…`. It is returned only once.");

const imported = z
  .object({
    dry_run: z.boolean().describe("True if nothing was changed."),
    endpoints: z
      .array(
        z.object({
          action: z
            .enum(["created", "updated", "unchanged"])
            .describe("The change, or with `dry_run` the change that would be made."),
          id: endpointId.nullable().describe("Id of the endpoint. Null for one that a dry run would create."),
          url: z.string().describe("The URL as given."),
          secret: z
            .string()
            .nullable()
            .describe("Secret of a new endpoint, returned only once. Null otherwise."),
        }),
      )
      .describe("The results, in the order of the request."),
  })
  .meta({ id: "Imported" });

const matchResult = z
  .object({
    matches: z.boolean().describe("Whether the endpoint would receive the event."),
    reason: z.enum(["type", "filter"]).nullable().describe("Why it does not match. Null if it does."),
    detail: z.string().nullable().describe("Explanation of the reason. Null if it matches."),
    pointer: z
      .string()
      .nullable()
      .describe(
        "JSON Pointer to the condition that does not match, for the reason `filter`. Null otherwise.",
      ),
  })
  .meta({ id: "MatchResult" });

const endpointAttempt = attempt
  .extend({ delivery_id: deliveryId, event_id: eventId })
  .meta({ id: "EndpointAttempt" });
export type EndpointAttempt = z.output<typeof endpointAttempt>;

const endpointSecret = z
  .object({
    id: secretId,
    is_current: z.boolean().describe("False if the secret was replaced by a rotation and expires."),
    scheme: z
      .string()
      .nullable()
      .describe("Signature scheme that uses it. Null for all schemes without their own secret."),
    created_at: createdAt,
    expires_at: time.nullable().describe("When it expires after a rotation. Null for a current secret."),
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
    summary: "Creates an endpoint. Its secret is returned only once",
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
          "Only endpoints in this state. `failing`: active, and without a success since a failure. `websub`: created by a WebSub subscription.",
        ),
    }),
    answer: { status: 200, schema: page(endpoint) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Returns an endpoint",
    permission: reading,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  update: operation({
    method: "PATCH",
    path,
    summary: "Changes settings of an endpoint",
    permission: managing,
    body: endpointPatch,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"], 422: ["invalid_endpoint"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes an endpoint and cancels its pending deliveries",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  import: operation({
    method: "POST",
    path: `${ofTenant}/import`,
    summary: "Creates and changes up to 500 endpoints, all or none. New secrets are returned only once",
    permission: managing,
    body: z.strictObject({
      endpoints: z
        .array(endpointImport)
        .meta({ description: "Endpoints to create and to change.", minItems: 1, maxItems: 500 }),
      dry_run: z
        .boolean()
        .optional()
        .meta({ description: "Return the changes without making them.", default: false }),
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
    summary: "Checks whether an endpoint would receive an event, without publishing it",
    permission: reading,
    isQuestion: true,
    body: z.strictObject({
      type: eventType,
      data: z.unknown().describe("Data of the event, any JSON."),
      subject: z.string().nullable().optional().describe("Subject of the event."),
      filter: filter.nullable().optional().describe("Filter to test instead of the endpoint's own."),
    }),
    answer: { status: 200, schema: matchResult },
    refusals: { 404: ["endpoint_not_found"], 422: ["invalid_event", "invalid_endpoint"] },
  }),
  listAttempts: operation({
    method: "GET",
    path: `${path}/attempts`,
    summary: "Lists attempts of an endpoint, those of the newest delivery first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: listQuery({}),
    answer: { status: 200, schema: page(endpointAttempt) },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  disable: operation({
    method: "POST",
    path: `${path}/disable`,
    summary: "Disables an endpoint and holds its deliveries",
    permission: managing,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: endpoint },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  enable: operation({
    method: "POST",
    path: `${path}/enable`,
    summary: "Enables an endpoint, and delivers or discards its held deliveries",
    permission: managing,
    body: z.strictObject({
      backlog: z.enum(["deliver", "discard"]).optional().meta({
        description:
          "`deliver` sends the held deliveries. `discard` makes them dead with the reason `discarded`.",
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
    summary: "Sends a test event to this endpoint only",
    permission: managing,
    body: z
      .strictObject({
        type: eventType
          .optional()
          .describe("Type of the event, regardless of the subscribed types. Defaults to `webhook.test`."),
        data: z.unknown().describe("Data of the event, any JSON. Defaults to a test message."),
        subject: z.string().nullable().optional().describe("Subject of the event. Defaults to none."),
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
    summary: "Creates a new secret and keeps the old one valid for a while",
    permission: managing,
    body: z.strictObject({
      overlap_seconds: z.int().optional().meta({
        description: "Seconds for which the old secret stays valid, at most 14 days. 0 revokes it at once.",
        minimum: 0,
        maximum: 1_209_600,
        default: 604_800,
      }),
      secret: z
        .string()
        .optional()
        .describe("Your own secret, of a kind that the schemes support. Generated by default."),
      scheme: z.string().optional().describe("Rotates only the secret of this signature scheme."),
    }),
    isBodyOptional: true,
    answer: {
      status: 200,
      schema: z.object({
        secret,
        previous_expires_at: time
          .nullable()
          .describe("When the old secret expires. Null if it is no longer valid."),
      }),
    },
    refusals: { 404: ["endpoint_not_found"], 409: ["too_many_secrets"], 422: ["invalid_endpoint"] },
  }),
  listSecrets: operation({
    method: "GET",
    path: `${path}/secrets`,
    summary: "Lists the secrets of an endpoint without their values, newest first",
    permission: managing,
    answer: {
      status: 200,
      schema: z.object({ data: z.array(endpointSecret).describe("The valid secrets.") }),
    },
    refusals: { 404: ["endpoint_not_found"] },
  }),
  revokeSecret: operation({
    method: "DELETE",
    path: `${path}/secrets/{secret}`,
    summary: "Revokes an old secret before it expires",
    permission: managing,
    answer: { status: 204, schema: null },
    refusals: { 404: ["endpoint_not_found", "secret_not_found"], 409: ["secret_in_use"] },
  }),
};
