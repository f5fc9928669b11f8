// How an entry of the audit log is read.
export type ActorKind = "admin" | "key" | "member" | "portal";

export interface AuditRow {
  readonly id: string;
  readonly actorKind: ActorKind;
  /** The key's or token's id, of a portal link its own; null for the admin key. */
  readonly actorId: string | null;
  readonly actorUser: string | null;
  /** Whose key or token it is; null: of the whole installation. */
  readonly actorTenant: string | null;
  readonly tenant: string | null;
  /** An operation, such as `endpoints.update`. */
  readonly action: string;
  readonly target: Readonly<Record<string, string>>;
  /** What was asked for, without secrets. */
  readonly changes: unknown;
  /** Null: the process died before it knew. */
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly requestId: string;
  readonly address: string | null;
}

/** For `posthorn.audit_log a`. */
export const auditColumns = `a.id, a.actor_kind as "actorKind", a.actor_id as "actorId", a.actor_user as "actorUser",
  a.actor_tenant as "actorTenant",
  a.tenant, a.action, a.target, a.changes, a.status, a.error_code as "errorCode", a.request_id as "requestId", a.address`;
