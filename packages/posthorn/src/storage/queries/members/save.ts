// Creates, updates and deletes members of a tenant.
import type { Queryable } from "../../database.ts";
import { type Statement, statement } from "../../sql.ts";
import { type MemberRole, type MemberRow, memberColumns } from "./member-row.ts";

/** An undefined e-mail is left unchanged. */
export interface MemberChange {
  readonly role: MemberRole;
  readonly email?: string | null | undefined;
}

/** Returns null if the tenant does not exist. */
export function saveMember(
  db: Queryable,
  tenant: string,
  user: string,
  change: MemberChange,
): Promise<MemberRow | null> {
  return write(db, saveStatement, tenant, user, change);
}

// the lock prevents that the tenant is deleted meanwhile
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

/** Returns null if the member does not exist. */
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

/** Returns false if the member does not exist. */
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
