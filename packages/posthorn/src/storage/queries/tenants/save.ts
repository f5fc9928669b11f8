// Creates a tenant, or updates one that is locked.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type TenantRow, tenantColumns } from "./tenant-row.ts";

/** Returns false if it exists. */
export async function insertTenant(tx: Queryable, id: string): Promise<boolean> {
  const rows = await tx.query(insertStatement, [id]);
  return rows.length > 0;
}

// A tenant that is deleted and created again must not get an earlier version, which caches may still hold. Milliseconds
// grow faster than versions.
const insertStatement = statement(
  "insert tenant",
  `
insert into posthorn.tenants (id, routing_version)
values ($1::text, posthorn.epoch_ms(posthorn.now())::bigint)
on conflict (id) do nothing
returning id
`,
);

/** Called after the insert, which waits for a concurrent deletion. */
export async function wasDeleted(tx: Queryable, id: string): Promise<boolean> {
  const rows = await tx.query(wasDeletedStatement, [id]);
  return rows.length > 0;
}

const wasDeletedStatement = statement(
  "was tenant deleted",
  "select 1 from posthorn.deleted_tenants where tenant = $1::text",
);

export async function forgetDeletion(tx: Queryable, id: string): Promise<void> {
  await tx.query(forgetStatement, [id]);
}

const forgetStatement = statement(
  "restore deleted tenant id",
  "delete from posthorn.deleted_tenants where tenant = $1::text",
);

export async function updateTenant(
  tx: Queryable,
  id: string,
  change: {
    readonly name?: string | null | undefined;
    readonly isActive?: boolean | undefined;
    readonly websubTopics?: readonly string[] | undefined;
  },
): Promise<TenantRow> {
  const [row] = await tx.query<TenantRow>(updateStatement, [
    id,
    change.name !== undefined,
    change.name ?? null,
    change.isActive ?? null,
    change.websubTopics === undefined ? null : textArray(change.websubTopics),
  ]);
  return row as TenantRow;
}

const updateStatement = statement(
  "update tenant",
  `
update posthorn.tenants t
set name = case when $2::boolean then $3::text else t.name end,
  is_active = coalesce($4::boolean, t.is_active),
  websub_topics = coalesce($5::text[], t.websub_topics),
  updated_at = posthorn.now()
where t.id = $1::text
returning ${tenantColumns}
`,
);

/** Makes the owners of its endpoints reload their settings. Returns the lanes to pause or resume. */
export async function touchEndpoints(tx: Queryable, tenant: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(touchStatement, [tenant]);
  return rows.map((row) => row.id);
}

const touchStatement = statement(
  "increment endpoint versions of tenant",
  `
update posthorn.endpoints
set version = version + 1
where tenant = $1::text
  and deleted_at is null
returning id
`,
);
