export type ActorKind = "admin" | "key" | "member" | "portal";

export interface AuditRow {
  readonly id: string;
  readonly actorKind: ActorKind;
  /** Id of the key, token or portal link; null for the admin key. */
  readonly actorId: string | null;
  readonly actorUser: string | null;
  /** Tenant of the key or token; null: a key of the installation. */
  readonly actorTenant: string | null;
  readonly tenant: string | null;
  /** An API operation, such as `endpoints.update`. */
  readonly action: string;
  readonly target: Readonly<Record<string, string>>;
  /** The request without secrets. */
  readonly changes: unknown;
  /** Null: the process crashed before the result was known. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly requestId: string;
  readonly address: string | null;
}

/** Columns of `posthorn.audit_log a`. */
export const auditColumns = `a.id, a.actor_kind as "actorKind", a.actor_id as "actorId", a.actor_user as "actorUser",
  a.actor_tenant as "actorTenant",
  a.tenant, a.action, a.target, a.changes, a.status, a.error_code as "errorCode", a.request_id as "requestId", a.address`;
