// Starts an audit entry before a change, completes it afterwards, and deletes old entries.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { AuditRow } from "./audit-row.ts";

export type NewAuditEntry = Omit<AuditRow, "id" | "status" | "errorCode">;

export async function beginEntry(db: Queryable, entry: NewAuditEntry): Promise<Uuid> {
  const [row] = await db.query<{ id: Uuid }>(beginStatement, [
    entry.actorKind,
    entry.actorId,
    entry.actorUser,
    entry.tenant,
    entry.action,
    JSON.stringify(entry.target),
    entry.changes === undefined ? null : JSON.stringify(entry.changes),
    entry.requestId,
    entry.address,
    entry.actorTenant,
  ]);
  return (row as { id: Uuid }).id;
}

const beginStatement = statement(
  "begin audit entry",
  `
insert into posthorn.audit_log as a
  (actor_kind, actor_id, actor_user, tenant, action, target, changes, request_id, address, actor_tenant)
values ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text::jsonb, $7::text::jsonb, $8::text, $9::text, $10::text)
returning a.id
`,
);

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  /** Set if the path names no tenant. */
  readonly tenant: string | null;
  /** Id of the created resource. */
  readonly made: string | null;
}

export async function completeEntry(db: Queryable, id: Uuid, outcome: AuditOutcome): Promise<void> {
  await db.query(completeStatement, [id, outcome.status, outcome.errorCode, outcome.tenant, outcome.made]);
}

const completeStatement = statement(
  "complete audit entry",
  `
update posthorn.audit_log a
set status = $2::smallint,
  error_code = $3::text,
  tenant = coalesce(a.tenant, $4::text),
  target = case when $5::text is null then a.target else a.target || jsonb_build_object('made', $5::text) end
where a.id = $1::uuid
`,
);

/** Returns how many were deleted, at most `most`. */
export async function pruneAuditLog(db: Queryable, days: number, most: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(pruneStatement, [days, most]);
  return row?.count ?? 0;
}

const pruneStatement = statement(
  "prune audit log",
  `
with old as materialized (
  select a.id
  from posthorn.audit_log a
  where a.id < posthorn.lowest_uuid_at(posthorn.now() - $1::integer * interval '24 hours')
  order by a.id
  limit $2::integer
),
pruned as (
  delete from posthorn.audit_log a
  where a.id = any (array(select id from old))
  returning 1
)
select count(*)::integer as count
from pruned
`,
);
