// Creates, counts and deletes API keys, and records their last use.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type KeyRow, keyColumns } from "./key-row.ts";

export interface NewKey {
  readonly id: string;
  readonly digest: Buffer;
  readonly name: string;
  readonly tenant: string | null;
  readonly userId: string | null;
  readonly scopes: readonly string[];
  readonly rateLimit: number | null;
  readonly expiresAt: Date | null;
}

/** Returns null if the tenant or member does not exist. */
export async function insertKey(db: Queryable, key: NewKey): Promise<KeyRow | null> {
  const [row] = await db.query<KeyRow>(insertStatement, [
    key.id,
    key.digest,
    key.name,
    key.tenant,
    key.userId,
    textArray(key.scopes),
    key.rateLimit,
    key.expiresAt,
  ]);
  return row ?? null;
}

const insertStatement = statement(
  "insert key",
  `
insert into posthorn.api_keys as k (id, digest, name, tenant, user_id, scopes, rate_limit, expires_at)
select $1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text[], $7::integer, $8::timestamptz
where ($4::text is null or exists (select from posthorn.tenants t where t.id = $4::text))
  and ($5::text is null or exists (
    select from posthorn.members m where m.tenant = $4::text and m.user_id = $5::text
  ))
returning ${keyColumns}
`,
);

/** A tenant, or a member of it. */
export interface KeyOwner {
  readonly tenant: string;
  readonly userId: string | null;
}

export async function countKeys(tx: Queryable, { tenant, userId }: KeyOwner): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countStatement, [tenant, userId]);
  return row?.count ?? 0;
}

const countStatement = statement(
  "count keys",
  `
select count(*)::integer as count
from posthorn.api_keys k
where k.tenant = $1::text
  and k.user_id is not distinct from $2::text
`,
);

export async function deleteExpired(tx: Queryable, { tenant, userId }: KeyOwner): Promise<void> {
  await tx.query(deleteExpiredStatement, [tenant, userId]);
}

const deleteExpiredStatement = statement(
  "delete expired keys",
  `
delete from posthorn.api_keys k
where k.tenant = $1::text
  and k.user_id is not distinct from $2::text
  and k.expires_at <= posthorn.now()
`,
);

/** Returns false if the tenant has no such key. */
export async function deleteKey(db: Queryable, id: string, tenant: string | null): Promise<boolean> {
  const rows = await db.query(deleteStatement, [id, tenant]);
  return rows.length > 0;
}

const deleteStatement = statement(
  "delete key",
  `
delete from posthorn.api_keys k
where k.id = $1::text
  and ($2::text is null or k.tenant = $2::text)
returning k.id
`,
);

export async function markUsed(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(usedStatement, [textArray(ids)]);
}

// Precise to the minute: writing it for every request would make this the busiest table.
const usedStatement = statement(
  "mark keys used",
  `
update posthorn.api_keys k
set last_used_at = posthorn.now()
where k.id = any ($1::text[])
  and (k.last_used_at is null or k.last_used_at < posthorn.now() - interval '1 minute')
`,
);
