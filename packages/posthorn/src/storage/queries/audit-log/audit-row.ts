// How an entry of the audit log is read.
export type ActorKind = "admin" | "key" | "member";

export interface AuditRow {
  readonly id: string;
  readonly actorKind: ActorKind;
  readonly actorId: string | null;
  readonly actorUser: string | null;
  readonly tenant: string | null;
  readonly action: string;
  readonly target: Readonly<Record<string, string>>;
  readonly changes: unknown;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly requestId: string;
  readonly address: string | null;
}

/** For `posthorn.audit_log a`. */
export const auditColumns = `a.id, a.actor_kind as "actorKind", a.actor_id as "actorId", a.actor_user as "actorUser",
  a.tenant, a.action, a.target, a.changes, a.status, a.error_code as "errorCode", a.request_id as "requestId", a.address`;
