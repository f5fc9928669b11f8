// Reads a page of the audit log, newest first.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type AuditRow, auditColumns } from "./audit-row.ts";

export interface AuditFilter {
  readonly notBefore: Uuid;
  readonly before: Uuid;
  readonly limit: number;
  /** Null filters match everything. */
  readonly tenant: string | null;
  readonly action: string | null;
}

export async function listAuditLog(db: Queryable, filter: AuditFilter): Promise<AuditRow[]> {
  const values = [filter.notBefore, filter.before, filter.limit, filter.action];
  return filter.tenant === null
    ? await db.query<AuditRow>(ofAllStatement, values)
    : await db.query<AuditRow>(ofTenantStatement, [...values, filter.tenant]);
}

const list = (condition: string): string => `
select ${auditColumns}
from posthorn.audit_log a
where a.id >= $1::uuid
  and a.id < $2::uuid
  and ($4::text is null or a.action = $4::text)
  ${condition}
order by a.id desc
limit $3::integer
`;

const ofAllStatement = statement("list audit log", list(""));
const ofTenantStatement = statement("list audit log of tenant", list("and a.tenant = $5::text"));
