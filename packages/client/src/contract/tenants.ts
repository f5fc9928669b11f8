// Tenants have the caller's own ids.
import { z } from "zod";
import { operation } from "./operation.ts";
import { listQuery, page, tenantId, time } from "./parts.ts";

export const tenant = z
  .object({
    id: tenantId,
    name: z.string().nullable(),
    is_active: z.boolean().describe("False: nothing is sent to its endpoints."),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Tenant" });
export type Tenant = z.output<typeof tenant>;

const tenantInput = z
  .strictObject({
    name: z.string().nullable().optional(),
    is_active: z.boolean().optional(),
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
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a tenant",
    permission: { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" },
    answer: { status: 200, schema: tenant },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a tenant that has no endpoints",
    permission: { scopes: ["admin"], reach: "installation" },
    answer: { status: 204, schema: null },
  }),
};
