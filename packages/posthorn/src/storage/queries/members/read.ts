// Reads members of a tenant, and the addresses to notify of a disabled endpoint.
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

/** The addresses of owners and admins except those in `notified`. */
export async function addressesToNotify(
  db: Queryable,
  tenant: string,
  notified: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ email: string }>(addressesStatement, [tenant, textArray(notified), limit]);
  return rows.map((row) => row.email);
}

// two members may share an address
const addressesStatement = statement(
  "addresses to notify",
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
