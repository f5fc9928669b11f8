import type { Tenant } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["tenants"]["get"]>>;

/** A tenant as the API shows it. */
export function presentTenant(tenant: Given): Sent<Tenant> {
  return {
    id: tenant.id,
    name: tenant.name,
    is_active: tenant.isActive,
    websub_topics: [...tenant.websubTopics],
    created_at: tenant.createdAt,
    updated_at: tenant.updatedAt,
  };
}
