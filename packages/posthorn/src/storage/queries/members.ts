// Members of a tenant, and the addresses to notify of a disabled endpoint.
import { column, firstRow, hasRow, rows } from "../query.ts";

export type MemberRole = "owner" | "admin" | "member";

export interface MemberRow {
  readonly tenant: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly email: string | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.members m`. */
const memberColumns = `m.tenant, m.user_id as "userId", m.role, m.email,
  posthorn.epoch_ms(m.created_at) as "createdMs", posthorn.epoch_ms(m.updated_at) as "updatedMs"`;

export const findMember = firstRow<MemberRow, [tenant: string, user: string]>("find member")`
select ${memberColumns}
from posthorn.members m
where m.tenant = $1::text
  and m.user_id = $2::text
`;

export const listMembers = rows<MemberRow, [tenant: string, after: string, limit: number]>("list members")`
select ${memberColumns}
from posthorn.members m
where m.tenant = $1::text
  and m.user_id > $2::text
order by m.user_id
limit $3::integer
`;

/** The addresses of owners and admins except those in `notified`. */
// two members may share an address
export const addressesToNotify = column<string, [tenant: string, notified: readonly string[], limit: number]>(
  "addresses to notify",
)`
select distinct m.email
from posthorn.members m
where m.tenant = $1::text
  and m.role in ('owner', 'admin')
  and m.email is not null
  and m.email <> all ($2::text[])
order by m.email
limit $3::integer
`;

/** An undefined e-mail is left unchanged. */
type SavesMember = [
  tenant: string,
  user: string,
  change: { readonly role: MemberRole; readonly email?: string | null | undefined },
];

const memberValues = (...[tenant, user, { role, email }]: SavesMember) => [
  tenant,
  user,
  role,
  email !== undefined,
  email,
];

/** Returns null if the tenant does not exist. */
// the lock prevents that the tenant is deleted meanwhile
export const saveMember = firstRow<MemberRow, SavesMember>("save member", memberValues)`
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
`;

/** Returns null if the member does not exist. */
export const updateMember = firstRow<MemberRow, SavesMember>("update member", memberValues)`
update posthorn.members m
set role = $3::text,
  email = case when $4::boolean then $5::text else m.email end,
  updated_at = posthorn.now()
where m.tenant = $1::text
  and m.user_id = $2::text
returning ${memberColumns}
`;

/** Returns false if the member does not exist. */
export const deleteMember = hasRow<[tenant: string, user: string]>("delete member")`
delete from posthorn.members
where tenant = $1::text
  and user_id = $2::text
returning user_id
`;
