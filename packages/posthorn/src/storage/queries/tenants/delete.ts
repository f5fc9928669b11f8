// Deletes a tenant and the rows of its deleted endpoints. Its events and deliveries stay, so its id remains reserved.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface TenantRest {
  /** Excludes WebSub subscriptions. */
  readonly endpoints: number;
  readonly subscriptions: number;
  /** Deleted endpoints whose rows still exist. */
  readonly deletedIds: readonly Uuid[];
}

export async function restOfTenant(tx: Queryable, tenant: string): Promise<TenantRest> {
  type Row = Omit<TenantRest, "deletedIds"> & { readonly deletedIds: Uuid[] | null };
  const [row] = await tx.query<Row>(restStatement, [tenant]);
  return { endpoints: 0, subscriptions: 0, ...row, deletedIds: row?.deletedIds ?? [] };
}

const restStatement = statement(
  "remaining endpoints of tenant",
  `
select
  count(*) filter (where ep.deleted_at is null and ep.websub_topic is null)::integer as endpoints,
  count(*) filter (where ep.deleted_at is null and ep.websub_topic is not null)::integer as subscriptions,
  json_agg(ep.id) filter (where ep.deleted_at is not null) as "deletedIds"
from posthorn.endpoints ep
where ep.tenant = $1::text
`,
);

/** Returns whether deliveries are unfinished. One in flight may return to the queue, and needs its lane then. */
export async function hasUnfinishedDeliveries(tx: Queryable, endpointIds: readonly Uuid[]): Promise<boolean> {
  const rows = await tx.query(owedStatement, [uuidArray(endpointIds)]);
  return rows.length > 0;
}

const owedStatement = statement(
  "queued for endpoints",
  `
select 1
from posthorn.queue q
where q.endpoint_id = any ($1::uuid[])
limit 1
`,
);

export async function deleteTenant(tx: Queryable, tenant: string): Promise<void> {
  await tx.query(deleteEndpointsStatement, [tenant]);
  await tx.query(deleteStatement, [tenant]);
  await tx.query(rememberStatement, [tenant]);
}

const deleteEndpointsStatement = statement(
  "delete endpoints of tenant",
  "delete from posthorn.endpoints where tenant = $1::text",
);

const deleteStatement = statement("delete tenant", "delete from posthorn.tenants where id = $1::text");

const rememberStatement = statement(
  "reserve deleted tenant id",
  "insert into posthorn.deleted_tenants (tenant) values ($1::text) on conflict do nothing",
);
