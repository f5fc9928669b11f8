// The audit log: an entry is started before a change and completed afterwards.
import type { Uuid } from "../../model.ts";
import { fields, rows, run, value } from "../query.ts";
import type { Filter, IdRange } from "./page.ts";

export interface AuditRow {
  readonly id: string;
  readonly actorKind: "admin" | "key" | "member" | "portal" | "library" | "system";
  /** Id of the key, token or portal link, or the name of the library's user; null for the admin key. */
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
  /** How many dead letters or rejected events a filter changed; null for other operations. */
  readonly affected: number | null;
  /** Null for a change through the library. */
  readonly requestId: string | null;
  readonly address: string | null;
}

/** Columns of `posthorn.audit_log a`. */
const auditColumns = `a.id, a.actor_kind as "actorKind", a.actor_id as "actorId", a.actor_user as "actorUser",
  a.actor_tenant as "actorTenant",
  a.tenant, a.action, a.target, a.changes, a.status, a.error_code as "errorCode", a.affected,
  a.request_id as "requestId", a.address`;

// Planned for its values, so that a tenant's entries are read by their index.
export const listAuditLog = rows<AuditRow, [IdRange & Filter<"tenant" | "action">]>(
  { name: "list audit log", replansEachTime: true },
  fields("notBefore", "before", "limit", "action", "tenant"),
)`
select ${auditColumns}
from posthorn.audit_log a
where a.id >= $1::uuid
  and a.id < $2::uuid
  and ($4::text is null or a.action = $4::text)
  and ($5::text is null or a.tenant = $5::text)
order by a.id desc
limit $3::integer
`;

export type NewAuditEntry = Omit<AuditRow, "id" | "status" | "errorCode" | "affected">;

export const beginEntry = value<Uuid, [entry: NewAuditEntry]>("begin audit entry", (entry) => [
  ...fields("actorKind", "actorId", "actorUser", "tenant", "action", "target")(entry),
  JSON.stringify(entry.changes),
  ...fields("requestId", "address", "actorTenant")(entry),
])`
insert into posthorn.audit_log as a
  (actor_kind, actor_id, actor_user, tenant, action, target, changes, request_id, address, actor_tenant)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::jsonb, $7::text::jsonb, $8::text, $9::text, $10::text)
returning a.id
`;

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  /** Set if the path names no tenant. */
  readonly tenant: string | null;
  /** Id of the created resource. */
  readonly created: string | null;
  readonly affected: number | null;
}

export const completeEntry = run<[id: Uuid, outcome: AuditOutcome]>("complete audit entry", (id, outcome) => [
  id,
  ...fields("status", "errorCode", "tenant", "created", "affected")(outcome),
])`
update posthorn.audit_log a
set status = $2::smallint,
  error_code = $3::text,
  tenant = coalesce(a.tenant, $4::text),
  affected = $6::integer,
  target = case when $5::text is null then a.target else a.target || jsonb_build_object('created', $5::text) end
where a.id = $1::uuid
`;
