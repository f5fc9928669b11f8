// Tenants have the caller's own ids.
import { z } from "zod";
import { operation } from "./operation.ts";
import { createdAt, listQuery, page, tenantId, updatedAt } from "./parts.ts";

export const tenant = z
  .object({
    id: tenantId,
    name: z.string().nullable().describe("A name for people; null without one."),
    is_active: z.boolean().describe("False: nothing is sent to its endpoints."),
    websub_topics: z
      .array(z.string())
      .describe("Event types that anybody may read and follow by WebSub; see docs/reference/websub.md."),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Tenant" });
export type Tenant = z.output<typeof tenant>;

const tenantInput = z
  .strictObject({
    name: z.string().nullable().optional().meta({
      description: "A name for people. Left out, it stays as it is; null takes it away.",
      maxLength: 200,
    }),
    is_active: z
      .boolean()
      .optional()
      .describe(
        "False: nothing is sent to its endpoints. Left out, it stays as it is; a new tenant is active.",
      ),
    websub_topics: z.array(z.string()).optional().meta({
      description:
        "Event types, exact, as `order.*` or as `*`, that anybody may read and follow by WebSub where the hub is switched on. What is taken away ends the subscriptions to it. Left out, it stays as it is; a new tenant has none.",
      maxItems: 100,
    }),
    restore: z
      .boolean()
      .optional()
      .describe("Brings back a tenant that was deleted, with the history that was kept."),
  })
  .meta({ id: "TenantInput" });

const path = "/api/v1/tenants/{tenant}";

export const tenants = {
  list: operation({
    method: "GET",
    path: "/api/v1/tenants",
    summary: "Lists tenants by their id",
    permission: { scopes: ["admin"], reach: "installation" },
    query: listQuery({}),
    answer: { status: 200, schema: page(tenant) },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Makes a tenant or changes it",
    permission: { scopes: ["admin"], reach: "installation" },
    body: tenantInput,
    isBodyOptional: true,
    answer: { status: 200, schema: tenant },
    refusals: { 422: ["invalid_tenant"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a tenant",
    permission: { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" },
    answer: { status: 200, schema: tenant },
    refusals: { 404: ["tenant_not_found"] },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a tenant that has no endpoints",
    permission: { scopes: ["admin"], reach: "installation" },
    answer: { status: 204, schema: null },
    refusals: { 404: ["tenant_not_found"], 409: ["tenant_not_empty"] },
  }),
};
