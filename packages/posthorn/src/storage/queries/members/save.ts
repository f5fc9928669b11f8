// Makes a member of a tenant, changes one, or takes one away.
import type { Queryable } from "../../database.ts";
import { type Statement, statement } from "../../sql.ts";
import { type MemberRole, type MemberRow, memberColumns } from "./member-row.ts";

/** An e-mail that is undefined stays as it is. */
export interface MemberChange {
  readonly role: MemberRole;
  readonly email?: string | null | undefined;
}

/** Null when there is no such tenant. */
export function saveMember(
  db: Queryable,
  tenant: string,
  user: string,
  change: MemberChange,
): Promise<MemberRow | null> {
  return write(db, saveStatement, tenant, user, change);
}

// The lock keeps the tenant from being deleted in between.
const saveStatement = statement(
  "save member",
  `
with tenant as (
  select t.id
  from posthorn.tenants t
  where t.id = $1::text
  for key share
)
insert into posthorn.members as m (tenant, user_id, role, email)
select tenant.id, $2::text, $3::text, $5::text
from tenant
on conflict (tenant, user_id) do update
set role = excluded.role,
  email = case when $4::boolean then excluded.email else m.email end,
  updated_at = posthorn.now()
returning ${memberColumns}
`,
);

/** Null when there is no such member. */
export function updateMember(
  db: Queryable,
  tenant: string,
  user: string,
  change: MemberChange,
): Promise<MemberRow | null> {
  return write(db, updateStatement, tenant, user, change);
}

const updateStatement = statement(
  "update member",
  `
update posthorn.members m
set role = $3::text,
  email = case when $4::boolean then $5::text else m.email end,
  updated_at = posthorn.now()
where m.tenant = $1::text
  and m.user_id = $2::text
returning ${memberColumns}
`,
);

async function write(
  db: Queryable,
  how: Statement,
  tenant: string,
  user: string,
  { role, email }: MemberChange,
): Promise<MemberRow | null> {
  const [row] = await db.query<MemberRow>(how, [tenant, user, role, email !== undefined, email ?? null]);
  return row ?? null;
}

/** False when there was none. */
export async function deleteMember(db: Queryable, tenant: string, user: string): Promise<boolean> {
  const rows = await db.query(deleteStatement, [tenant, user]);
  return rows.length > 0;
}

const deleteStatement = statement(
  "delete member",
  `
delete from posthorn.members
where tenant = $1::text
  and user_id = $2::text
returning user_id
`,
);
