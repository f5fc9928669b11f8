import type { Posthorn } from "posthorn";

type Tenant = Awaited<ReturnType<Posthorn["tenants"]["get"]>>;

/** A tenant as the API shows it. */
export function presentTenant(tenant: Tenant): object {
  return {
    id: tenant.id,
    name: tenant.name,
    is_active: tenant.isActive,
    created_at: tenant.createdAt,
    updated_at: tenant.updatedAt,
  };
}
