// How a tenant is read.
export interface TenantRow {
  readonly id: string;
  readonly name: string | null;
  readonly isActive: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** For `posthorn.tenants t`. */
export const tenantColumns = `t.id, t.name, t.is_active as "isActive",
  posthorn.epoch_ms(t.created_at) as "createdMs", posthorn.epoch_ms(t.updated_at) as "updatedMs"`;
