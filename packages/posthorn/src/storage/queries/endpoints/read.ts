// Endpoints of a tenant, one or a page of them. Deleted ones are not shown.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EndpointRow, endpointColumns } from "./endpoint-row.ts";

export async function findEndpoint(db: Queryable, tenant: string, id: Uuid): Promise<EndpointRow | null> {
  const [row] = await db.query<EndpointRow>(findStatement, [tenant, id]);
  return row ?? null;
}

const findText = `
select ${endpointColumns}
from posthorn.endpoints ep
where ep.id = $2::uuid
  and ep.tenant = $1::text
  and ep.deleted_at is null
`;
const findStatement = statement("find endpoint", findText);

/** After its tenant. */
export async function lockEndpoint(tx: Queryable, tenant: string, id: Uuid): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(lockStatement, [tenant, id]);
  return row ?? null;
}

const lockStatement = statement("lock endpoint", `${findText}for no key update`);

export async function listEndpoints(
  db: Queryable,
  tenant: string,
  before: Uuid,
  limit: number,
): Promise<EndpointRow[]> {
  return await db.query<EndpointRow>(listStatement, [tenant, before, limit]);
}

const listStatement = statement(
  "list endpoints",
  `
select ${endpointColumns}
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ep.deleted_at is null
  and ep.id < $2::uuid
order by ep.id desc
limit $3::integer
`,
);

export async function countEndpoints(tx: Queryable, tenant: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countStatement, [tenant]);
  return row?.count ?? 0;
}

const countStatement = statement(
  "count endpoints",
  `
select count(*)::integer as count
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ep.deleted_at is null
`,
);

/** Of a tenant, or the one if it is the tenant's. Deleted ones included: history points at them. */
export async function endpointIdsOf(
  db: Queryable,
  tenant: string,
  endpointId: Uuid | null = null,
): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(idsStatement, [tenant, endpointId]);
  return rows.map((row) => row.id);
}

const idsStatement = statement(
  "endpoint ids of tenant",
  `
select ep.id
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ($2::uuid is null or ep.id = $2::uuid)
order by ep.id
`,
);

export async function tenantOfEndpoint(db: Queryable, id: Uuid): Promise<string | null> {
  const [row] = await db.query<{ tenant: string }>(tenantStatement, [id]);
  return row?.tenant ?? null;
}

const tenantStatement = statement(
  "tenant of endpoint",
  "select ep.tenant from posthorn.endpoints ep where ep.id = $1::uuid",
);
