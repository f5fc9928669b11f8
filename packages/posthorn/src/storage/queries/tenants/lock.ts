// Every change to a tenant or its endpoints starts here. Locks are taken in the order tenant, endpoint, lane.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns null if the tenant does not exist. */
export async function lockTenant(
  tx: Queryable,
  tenant: string,
): Promise<{ readonly isActive: boolean } | null> {
  const [row] = await tx.query<{ isActive: boolean }>(lockStatement, [tenant]);
  return row ?? null;
}

const lockStatement = statement(
  "lock tenant",
  `
select t.is_active as "isActive"
from posthorn.tenants t
where t.id = $1::text
for no key update
`,
);

/** Makes publishers reload their cached routes of the tenant. */
export async function incrementRoutingVersion(tx: Queryable, tenant: string): Promise<void> {
  await tx.query(raiseStatement, [tenant]);
}

const raiseStatement = statement(
  "increment routing version",
  `
update posthorn.tenants
set routing_version = routing_version + 1
where id = $1::text
`,
);
