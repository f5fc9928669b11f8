// Tenants. Every change to a tenant or its endpoints locks the tenant first; locks are taken in the order tenant,
// endpoint, lane.

import type { Uuid } from "../../model.ts";
import { textArray } from "../binary-array.ts";
import type { Queryable } from "../database.ts";
import { column, firstRow, hasRow, onlyRow, rows, run } from "../query.ts";

/** Returns null if the tenant does not exist. */
export const lockTenant = firstRow<{ readonly isActive: boolean }, [tenant: string]>("lock tenant")`
select t.is_active as "isActive"
from posthorn.tenants t
where t.id = $1::text
for no key update
`;

/** Makes publishers reload their cached routes of the tenant. */
export const incrementRoutingVersion = run<[tenant: string]>("increment routing version")`
update posthorn.tenants
set routing_version = routing_version + 1
where id = $1::text
`;

export interface TenantRow {
  readonly id: string;
  readonly name: string | null;
  readonly isActive: boolean;
  /** Null if no topic is public. */
  readonly websubTopics: readonly string[] | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.tenants t`. */
const tenantColumns = `t.id, t.name, t.is_active as "isActive",
  to_json(t.websub_topics) as "websubTopics",
  posthorn.epoch_ms(t.created_at) as "createdMs", posthorn.epoch_ms(t.updated_at) as "updatedMs"`;

export const findTenant = firstRow<TenantRow, [id: string]>("find tenant")`
select ${tenantColumns}
from posthorn.tenants t
where t.id = $1::text
`;

export const listTenants = rows<TenantRow, [after: string, limit: number, search: string | null]>(
  "list tenants",
)`
select ${tenantColumns}
from posthorn.tenants t
where t.id > $1::text
  and (
    $3::text is null
    or position(lower($3::text) in lower(t.id)) > 0
    or position(lower($3::text) in lower(t.name)) > 0
  )
order by t.id
limit $2::integer
`;

/** Returns false if the tenant already exists. */
// A tenant that is deleted and created again must not get an earlier version, which caches may still hold. Milliseconds
// grow faster than versions.
export const insertTenant = hasRow<[id: string]>("insert tenant")`
insert into posthorn.tenants (id, routing_version)
values ($1::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (id) do nothing
returning id
`;

/** Called after the insert, which waits for a concurrent deletion. */
export const wasDeleted = hasRow<[id: string]>(
  "was tenant deleted",
)`select 1 from posthorn.deleted_tenants where tenant = $1::text`;

export const unreserveId = run<[id: string]>(
  "restore deleted tenant id",
)`delete from posthorn.deleted_tenants where tenant = $1::text`;

export const updateTenant = onlyRow<
  TenantRow,
  [
    id: string,
    change: {
      readonly name?: string | null | undefined;
      readonly isActive?: boolean | undefined;
      readonly websubTopics?: readonly string[] | undefined;
    },
  ]
>("update tenant", (id, change) => [
  id,
  change.name !== undefined,
  change.name ?? null,
  change.isActive ?? null,
  change.websubTopics === undefined ? null : textArray(change.websubTopics),
])`
update posthorn.tenants t
set name = case when $2::boolean then $3::text else t.name end,
  is_active = coalesce($4::boolean, t.is_active),
  websub_topics = coalesce($5::text[], t.websub_topics),
  updated_at = posthorn.now()
where t.id = $1::text
returning ${tenantColumns}
`;

/** Makes the owners of its endpoints reload their settings. Returns the lanes to pause or resume. */
export const touchEndpoints = column<string, [tenant: string]>("increment endpoint versions of tenant")`
update posthorn.endpoints
set version = version + 1
where tenant = $1::text
  and deleted_at is null
returning id
`;

export interface TenantEndpoints {
  /** Excludes subscriptions. */
  readonly endpoints: number;
  readonly subscriptions: number;
  /** Deleted endpoints whose rows still exist. */
  readonly deletedIds: readonly Uuid[];
}

export const countEndpointsOfTenant = onlyRow<TenantEndpoints, [tenant: string]>(
  "remaining endpoints of tenant",
)`
select
  count(*) filter (where ep.deleted_at is null and ep.lease_ends_at is null)::integer as endpoints,
  count(*) filter (where ep.deleted_at is null and ep.lease_ends_at is not null)::integer as subscriptions,
  coalesce(json_agg(ep.id) filter (where ep.deleted_at is not null), '[]') as "deletedIds"
from posthorn.endpoints ep
where ep.tenant = $1::text
`;

/** Returns whether deliveries are unfinished. One in flight may return to the queue, and needs its lane then. */
export const hasUnfinishedDeliveries = hasRow<[endpointIds: readonly Uuid[]]>("queued for endpoints")`
select 1
from posthorn.unfinished q
where q.endpoint_id = any ($1::uuid[])
limit 1
`;

/** Its events and deliveries stay, so its id remains reserved. */
export async function deleteTenant(tx: Queryable, tenant: string): Promise<void> {
  await deleteEndpoints(tx, tenant);
  await deleteRow(tx, tenant);
  await reserveId(tx, tenant);
}

const deleteEndpoints = run<[tenant: string]>("delete endpoints of tenant")`
delete from posthorn.endpoints where tenant = $1::text
`;

const deleteRow = run<[tenant: string]>("delete tenant")`
delete from posthorn.tenants where id = $1::text
`;

const reserveId = run<[tenant: string]>("reserve deleted tenant id")`
insert into posthorn.deleted_tenants (tenant) values ($1::text) on conflict do nothing
`;
