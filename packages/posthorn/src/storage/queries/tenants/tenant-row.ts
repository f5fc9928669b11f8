export interface TenantRow {
  readonly id: string;
  readonly name: string | null;
  readonly isActive: boolean;
  /** Null: none. */
  readonly websubTopics: readonly string[] | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.tenants t`. */
export const tenantColumns = `t.id, t.name, t.is_active as "isActive",
  to_json(t.websub_topics) as "websubTopics",
  posthorn.epoch_ms(t.created_at) as "createdMs", posthorn.epoch_ms(t.updated_at) as "updatedMs"`;
