// Tenants, with ids chosen by the caller.
import { z } from "zod";
import { operation } from "./operation.ts";
import { createdAt, listQuery, page, tenantId, updatedAt } from "./parts.ts";

export const tenant = z
  .object({
    id: tenantId,
    name: z.string().nullable().describe("Display name. Null without one."),
    is_active: z.boolean().describe("False if nothing is sent to its endpoints."),
    websub_topics: z
      .array(z.string())
      .describe("Event types that are public WebSub topics; see docs/reference/websub.md."),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Tenant" });
export type Tenant = z.output<typeof tenant>;

const tenantInput = z
  .strictObject({
    name: z.string().nullable().optional().meta({
      description: "Display name. Unchanged if left out; null removes it.",
      maxLength: 200,
    }),
    is_active: z
      .boolean()
      .optional()
      .describe("False stops deliveries to its endpoints. Unchanged if left out; a new tenant is active."),
    websub_topics: z.array(z.string()).optional().meta({
      description:
        "Event types that are public WebSub topics if the hub is enabled: exact, `order.*` or `*`. Removing a type ends its subscriptions. Unchanged if left out; a new tenant has none.",
      maxItems: 100,
    }),
    restore: z.boolean().optional().describe("Restores a deleted tenant with its history."),
  })
  .meta({ id: "TenantInput" });

const path = "/api/v1/tenants/{tenant}";

export const tenants = {
  list: operation({
    method: "GET",
    path: "/api/v1/tenants",
    summary: "Lists tenants by id",
    permission: { scopes: ["admin"], reach: "installation" },
    query: listQuery({}),
    answer: { status: 200, schema: page(tenant) },
  }),
  put: operation({
    method: "PUT",
    path,
    summary: "Creates or changes a tenant",
    permission: { scopes: ["admin"], reach: "installation" },
    body: tenantInput,
    isBodyOptional: true,
    answer: { status: 200, schema: tenant },
    refusals: { 422: ["invalid_tenant"] },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Returns a tenant",
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
