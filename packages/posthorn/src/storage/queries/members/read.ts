// Members of a tenant: one, a page of them, or those who are told when an endpoint of theirs is disabled.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type MemberRow, memberColumns } from "./member-row.ts";

export async function findMember(db: Queryable, tenant: string, user: string): Promise<MemberRow | null> {
  const [row] = await db.query<MemberRow>(findStatement, [tenant, user]);
  return row ?? null;
}

const findStatement = statement(
  "find member",
  `
select ${memberColumns}
from posthorn.members m
where m.tenant = $1::text
  and m.user_id = $2::text
`,
);

export async function listMembers(
  db: Queryable,
  tenant: string,
  after: string | null,
  limit: number,
): Promise<MemberRow[]> {
  return await db.query<MemberRow>(listStatement, [tenant, after ?? "", limit]);
}

// In the order of their own ids, which hold no time.
const listStatement = statement(
  "list members",
  `
select ${memberColumns}
from posthorn.members m
where m.tenant = $1::text
  and m.user_id > $2::text
order by m.user_id
limit $3::integer
`,
);

/** Of owners and admins, without those who were told already. */
export async function addressesToTell(
  db: Queryable,
  tenant: string,
  told: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ email: string }>(addressesStatement, [tenant, textArray(told), limit]);
  return rows.map((row) => row.email);
}

// Two members may share an address; it gets one mail.
const addressesStatement = statement(
  "addresses to tell",
  `
select distinct m.email
from posthorn.members m
where m.tenant = $1::text
  and m.role in ('owner', 'admin')
  and m.email is not null
  and m.email <> all ($2::text[])
order by m.email
limit $3::integer
`,
);
