// Operations on endpoints, their secrets and attempts.
import { z } from "zod";
import { attempt } from "../deliveries.ts";
import { operation, type Permission } from "../operation.ts";
import * as s from "../parts.ts";
import { endpoint, endpointImport, endpointInput, endpointPatch } from "./endpoint.ts";
import { filter } from "./setting-schemas.ts";

const secret = s.text(
  "Signing secret, `whsec_…` or `whsk_…`, or your own as you gave it. It is returned only once.",
);

const warnings = s.list(
  z.object({
    code: s.choice(
      ["host_not_resolved"],
      "`host_not_resolved`: the host name of the URL could not be resolved.",
    ),
    pointer: s.text("JSON Pointer to the field that the warning is about."),
    message: s.text("What is wrong, and what to do."),
  }),
  "Problems that did not prevent the change, but let deliveries fail for now. Empty if there are none.",
);

const imported = s.component("Imported", {
  dry_run: s.flag("True if nothing was changed."),
  endpoints: s.list(
    z.object({
      action: s.choice(
        ["created", "updated", "unchanged"],
        "The change, or with `dry_run` the change that would be made.",
      ),
      id: s.nullable(s.endpointId, "Id of the endpoint. Null for one that a dry run would create."),
      url: s.text("The URL as given."),
      secret: s.nullableText("Secret of a new endpoint, returned only once. Null otherwise."),
      warnings,
    }),
    "The results, in the order of the request.",
  ),
});

const matchResult = s.component("MatchResult", {
  matches: s.flag("Whether the endpoint would receive the event."),
  reason: s.nullable(z.enum(["type", "filter"]), "Why it does not match. Null if it does."),
  detail: s.nullableText("Explanation of the reason. Null if it matches."),
  pointer: s.nullableText(
    "JSON Pointer to the condition that does not match, for the reason `filter`. Null otherwise.",
  ),
});

const endpointAttempt = s.component("EndpointAttempt", {
  ...attempt.shape,
  delivery_id: s.deliveryId,
  event_id: s.eventId,
  event_type: s.eventType,
});
export type EndpointAttempt = z.output<typeof endpointAttempt>;

const endpointSecret = s.component("EndpointSecret", {
  id: s.secretId,
  is_current: s.flag("False if the secret was replaced by a rotation and expires."),
  scheme: s.nullableText("Signature scheme that uses it. Null for all schemes without their own secret."),
  created_at: s.createdAt,
  expires_at: s.nullableTime("When it expires after a rotation. Null for a current secret."),
});
export type EndpointSecret = z.output<typeof endpointSecret>;

const filters = {
  state: s.optional(
    z.enum(["active", "disabled", "failing", "websub"]),
    "Only endpoints in this state. `failing`: active, and without a success since a failure. `websub`: created by a WebSub subscription.",
  ),
  search: s.textFilter(
    "Only endpoints with this id, or with this text in their name or in their URL before the query.",
  ),
};

const ofTenant = "/api/v1/tenants/{tenant}/endpoints";
const path = `${ofTenant}/{endpoint}` as const;
const reading: Permission = { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" };
const managing: Permission = { scopes: ["webhooks:manage"], reach: "tenant" };

export const endpoints = {
  create: operation("POST", ofTenant, {
    summary: "Creates an endpoint. Its secret is returned only once",
    permission: managing,
    body: endpointInput,
    response: { status: 201, schema: endpoint.extend({ secret, warnings }).meta({ id: "NewEndpoint" }) },
    errors: { 404: ["tenant_not_found"], 409: ["endpoint_limit_reached"], 422: ["invalid_endpoint"] },
  }),
  list: operation("GET", ofTenant, {
    summary: "Lists the endpoints of a tenant",
    permission: reading,
    query: s.listQuery(filters),
    response: { status: 200, schema: s.page(endpoint) },
    errors: { 404: ["tenant_not_found"] },
  }),
  listAll: operation("GET", "/api/v1/endpoints", {
    summary: "Lists endpoints of all tenants, newest first",
    permission: reading,
    query: s.listQuery({ tenant: s.tenantFilter, ...filters }),
    response: { status: 200, schema: s.page(endpoint) },
  }),
  get: operation("GET", path, {
    summary: "Returns an endpoint",
    permission: reading,
    response: { status: 200, schema: endpoint },
    errors: { 404: ["endpoint_not_found"] },
  }),
  update: operation("PATCH", path, {
    summary: "Changes settings of an endpoint",
    permission: managing,
    body: endpointPatch,
    response: { status: 200, schema: endpoint.extend({ warnings }).meta({ id: "UpdatedEndpoint" }) },
    errors: { 404: ["endpoint_not_found"], 422: ["invalid_endpoint"] },
  }),
  delete: operation("DELETE", path, {
    summary: "Deletes an endpoint; its backlog becomes dead letters",
    permission: managing,
    response: { status: 204, schema: null },
    errors: { 404: ["endpoint_not_found"] },
  }),
  import: operation("POST", `${ofTenant}/import`, {
    summary: "Creates and changes up to 500 endpoints, all or none. New secrets are returned only once",
    permission: managing,
    body: z.strictObject({
      endpoints: s.list(endpointImport, "Endpoints to create and to change.", { minItems: 1, maxItems: 500 }),
      dry_run: s.optionalFlag("Return the changes without making them."),
    }),
    response: { status: 200, schema: imported },
    errors: {
      404: ["tenant_not_found", "endpoint_not_found"],
      409: ["endpoint_limit_reached"],
      422: ["invalid_endpoint"],
    },
  }),
  match: operation("POST", `${path}/match`, {
    summary: "Checks whether an endpoint would receive an event, without publishing it",
    permission: reading,
    isReadOnly: true,
    body: z.strictObject({
      type: s.eventType,
      data: z.unknown().describe("Data of the event, any JSON."),
      subject: s.nullishText("Subject of the event."),
      filter: filter.nullable().optional().describe("Filter to test instead of the endpoint's own."),
    }),
    response: { status: 200, schema: matchResult },
    errors: { 404: ["endpoint_not_found"], 422: ["invalid_event", "invalid_endpoint"] },
  }),
  listAttempts: operation("GET", `${path}/attempts`, {
    summary: "Lists attempts of an endpoint, those of the newest delivery first",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: s.listQuery({}),
    response: { status: 200, schema: s.page(endpointAttempt) },
    errors: { 404: ["endpoint_not_found"] },
  }),
  disable: operation("POST", `${path}/disable`, {
    summary: "Disables an endpoint and holds its deliveries",
    permission: managing,
    response: { status: 200, schema: endpoint },
    errors: { 404: ["endpoint_not_found"] },
  }),
  enable: operation("POST", `${path}/enable`, {
    summary: "Enables an endpoint, and delivers or discards its held deliveries",
    permission: managing,
    body: z.strictObject({
      backlog: s.optional(
        z.enum(["deliver", "discard"]),
        "`deliver` sends the held deliveries. `discard` makes them dead with the reason `discarded`.",
        { default: "deliver" },
      ),
    }),
    isBodyOptional: true,
    response: { status: 200, schema: endpoint },
    errors: { 404: ["endpoint_not_found"], 422: ["invalid_endpoint"] },
  }),
  test: operation("POST", `${path}/test`, {
    summary: "Sends a test event to this endpoint only",
    permission: managing,
    body: z
      .strictObject({
        type: s.optional(
          s.eventType,
          "Type of the event, regardless of the subscribed types. Defaults to `webhook.test`.",
        ),
        data: z.unknown().describe("Data of the event, any JSON. Defaults to a test message."),
        subject: s.nullishText("Subject of the event. Defaults to none."),
      })
      .partial()
      .meta({ id: "TestEventInput" }),
    isBodyOptional: true,
    response: { status: 202, schema: z.object({ event_id: s.eventId, delivery_id: s.deliveryId }) },
    errors: {
      404: ["endpoint_not_found"],
      409: ["endpoint_disabled", "endpoint_not_agreed", "tenant_inactive"],
      413: ["payload_too_large"],
      422: ["invalid_event"],
    },
  }),
  rotateSecret: operation("POST", `${path}/rotate-secret`, {
    summary: "Creates a new secret and keeps the old one valid for a while",
    permission: managing,
    body: z.strictObject({
      overlap_seconds: s.optionalInt(
        "Seconds for which the old secret stays valid, at most 14 days. 0 revokes it at once.",
        { minimum: 0, maximum: 1_209_600, default: 604_800 },
      ),
      secret: s.optionalText("Your own secret, of a kind that the schemes support. Generated by default."),
      secret_encoding: s.optional(
        s.secretEncoding,
        "How your own secret is written, if it comes from another sender: `text`, `base64` or `hex`.",
      ),
      scheme: s.optionalText("Rotates only the secret of this signature scheme."),
    }),
    isBodyOptional: true,
    response: {
      status: 200,
      schema: z.object({
        secret,
        previous_expires_at: s.nullableTime("When the old secret expires. Null if it is no longer valid."),
      }),
    },
    errors: { 404: ["endpoint_not_found"], 409: ["too_many_secrets"], 422: ["invalid_endpoint"] },
  }),
  listSecrets: operation("GET", `${path}/secrets`, {
    summary: "Lists the secrets of an endpoint without their values, newest first",
    permission: managing,
    response: {
      status: 200,
      schema: z.object({ data: s.list(endpointSecret, "The valid secrets.") }),
    },
    errors: { 404: ["endpoint_not_found"] },
  }),
  revokeSecret: operation("DELETE", `${path}/secrets/{secret}`, {
    summary: "Revokes an old secret before it expires",
    permission: managing,
    response: { status: 204, schema: null },
    errors: { 404: ["endpoint_not_found", "secret_not_found"], 409: ["secret_in_use"] },
  }),
};
