// Tenants, with ids chosen by the caller.
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

export const tenant = s.component("Tenant", {
  id: s.tenantId,
  name: s.nullableText("Display name. Null without one."),
  is_active: s.flag("False if nothing is sent to its endpoints."),
  websub_topics: s.list(
    z.string(),
    "Event types that are public WebSub topics; see docs/reference/websub.md.",
  ),
  created_at: s.createdAt,
  updated_at: s.updatedAt,
});
export type Tenant = z.output<typeof tenant>;

const tenantInput = s.inputComponent("TenantInput", {
  name: s.nullishText("Display name. Unchanged if left out; null removes it.", { maxLength: 200 }),
  is_active: s.optional(
    z.boolean(),
    "False stops deliveries to its endpoints. Unchanged if left out; a new tenant is active.",
  ),
  websub_topics: s.optional(
    z.array(z.string()),
    "Event types that are public WebSub topics if the hub is enabled: exact, `order.*` or `*`. Removing a type ends its subscriptions. Unchanged if left out; a new tenant has none.",
    { maxItems: 100 },
  ),
  restore: s.optional(z.boolean(), "Restores a deleted tenant with its history."),
});

const path = "/api/v1/tenants/{tenant}";

export const tenants = {
  list: operation("GET", "/api/v1/tenants", {
    summary: "Lists tenants by id",
    permission: { scopes: ["admin"], reach: "installation" },
    query: s.listQuery({ search: s.textFilter("Only tenants with this text in their id or name.") }),
    response: { status: 200, schema: s.page(tenant) },
  }),
  put: operation("PUT", path, {
    summary: "Creates or changes a tenant",
    permission: { scopes: ["admin"], reach: "installation" },
    body: tenantInput,
    isBodyOptional: true,
    response: { status: 200, schema: tenant },
    errors: { 422: ["invalid_tenant"] },
  }),
  get: operation("GET", path, {
    summary: "Returns a tenant",
    permission: { scopes: ["webhooks:manage", "deliveries:read"], reach: "tenant" },
    response: { status: 200, schema: tenant },
    errors: { 404: ["tenant_not_found"] },
  }),
  delete: operation("DELETE", path, {
    summary: "Deletes a tenant that has no endpoints",
    permission: { scopes: ["admin"], reach: "installation" },
    response: { status: 204, schema: null },
    errors: { 404: ["tenant_not_found"], 409: ["tenant_not_empty"] },
  }),
};
