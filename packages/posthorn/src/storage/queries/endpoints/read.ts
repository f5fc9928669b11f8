// Reads endpoints of a tenant or of all tenants. Deleted ones are excluded.
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

/** Locked after its tenant. */
export async function lockEndpoint(tx: Queryable, tenant: string, id: Uuid): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(lockStatement, [tenant, id]);
  return row ?? null;
}

const lockStatement = statement("lock endpoint", `${findText}for no key update`);

/** `failing`: active, with failures since the last success. `websub`: a WebSub subscription. */
export type EndpointState = "active" | "disabled" | "failing" | "websub";

export interface EndpointFilter {
  /** Null: all tenants. */
  readonly tenant: string | null;
  /** Null: any state. */
  readonly state: EndpointState | null;
  readonly before: Uuid;
  readonly limit: number;
}

export async function listEndpoints(
  db: Queryable,
  { tenant, state, before, limit }: EndpointFilter,
): Promise<EndpointRow[]> {
  const lists = listStatements[state ?? "any"];
  return tenant === null
    ? await db.query<EndpointRow>(lists.ofAll, [before, limit])
    : await db.query<EndpointRow>(lists.ofTenant, [before, limit, tenant]);
}

const listText = (condition: string) => `
select ${endpointColumns}
from posthorn.endpoints ep
where ep.deleted_at is null
  and ep.id < $1::uuid
  ${condition}
order by ep.id desc
limit $2::integer
`;

/** One statement per combination, so that each uses its own index. */
const listsOf = (name: string, condition: string) => ({
  ofAll: statement(`list ${name}`, listText(condition)),
  ofTenant: statement(`list ${name} of tenant`, listText(`and ep.tenant = $3::text\n  ${condition}`)),
});

const listStatements = {
  any: listsOf("endpoints", ""),
  active: listsOf("active endpoints", "and ep.is_active"),
  disabled: listsOf("switched-off endpoints", "and not ep.is_active"),
  websub: listsOf("subscriptions", "and ep.websub_topic is not null"),
  // healthy endpoints have no row in endpoint_health
  failing: listsOf(
    "endpoints that fail",
    `and ep.is_active
  and ep.id in (
    select h.endpoint_id
    from posthorn.endpoint_health h
    where h.consecutive_failures > 0
  )`,
  ),
};

/** Excludes WebSub subscriptions, which have limits of their own. */
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
  and ep.websub_topic is null
  and ep.deleted_at is null
`,
);

/**
 * Returns the ids of a tenant's endpoints, or the one if it is the tenant's. Includes deleted ones, which history refers
 * to.
 */
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
