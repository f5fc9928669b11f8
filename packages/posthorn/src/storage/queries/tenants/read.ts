import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type TenantRow, tenantColumns } from "./tenant-row.ts";

export async function findTenant(db: Queryable, id: string): Promise<TenantRow | null> {
  const [row] = await db.query<TenantRow>(findStatement, [id]);
  return row ?? null;
}

const findStatement = statement(
  "find tenant",
  `
select ${tenantColumns}
from posthorn.tenants t
where t.id = $1::text
`,
);

export async function listTenants(db: Queryable, after: string | null, limit: number): Promise<TenantRow[]> {
  return await db.query<TenantRow>(listStatement, [after ?? "", limit]);
}

const listStatement = statement(
  "list tenants",
  `
select ${tenantColumns}
from posthorn.tenants t
where t.id > $1::text
order by t.id
limit $2::integer
`,
);
