// API keys and tokens: creates, counts, reads and deletes them, and records their last use.
import { fields, firstRow, hasRow, rows, run, value } from "../query.ts";
import type { MemberRole } from "./members.ts";

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  /** Null for a key of the whole installation. */
  readonly tenant: string | null;
  readonly userId: string | null;
  /** The current role of the member whose token it is. */
  readonly role: MemberRole | null;
  /** Empty for a token: its member's role decides. */
  readonly scopes: readonly string[];
  /** Requests per second and process. Null uses the deployment default. */
  readonly rateLimit: number | null;
  readonly createdMs: number;
  readonly expiresMs: number | null;
  /** To the minute. */
  readonly lastUsedMs: number | null;
}

/** A key with the data needed to verify it. */
export interface KnownKey extends KeyRow {
  readonly digest: Buffer;
  /** Null: it does not expire. */
  readonly endsInMs: number | null;
}

/** Columns of `posthorn.api_keys k`. */
const keyColumns = `k.id, k.name, k.tenant, k.user_id as "userId",
  (select m.role from posthorn.members m where m.tenant = k.tenant and m.user_id = k.user_id) as role, to_json(k.scopes) as scopes, k.rate_limit as "rateLimit",
  posthorn.epoch_ms(k.created_at) as "createdMs", posthorn.epoch_ms(k.expires_at) as "expiresMs",
  posthorn.epoch_ms(k.last_used_at) as "lastUsedMs"`;

export const listKeys = rows<KeyRow, [tenant: string | null, after: string, limit: number]>("list keys")`
select ${keyColumns}
from posthorn.api_keys k
where k.id > $2::text
  and ($1::text is null or k.tenant = $1::text)
order by k.id
limit $3::integer
`;

/** Returns the keys that have not expired. */
export const knownKeys = rows<KnownKey, [ids: readonly string[]]>("known api keys")`
select ${keyColumns}, k.digest,
  posthorn.epoch_ms(k.expires_at) - posthorn.epoch_ms(posthorn.now()) as "endsInMs"
from posthorn.api_keys k
where k.id = any ($1::text[])
  and (k.expires_at is null or k.expires_at > posthorn.now())
`;

export interface NewKey extends Omit<KeyRow, "role" | "createdMs" | "expiresMs" | "lastUsedMs"> {
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

/** Returns null if the tenant or member does not exist. */
export const insertKey = firstRow<KeyRow, [key: NewKey]>(
  "insert key",
  fields("id", "digest", "name", "tenant", "userId", "scopes", "rateLimit", "expiresAt"),
)`
insert into posthorn.api_keys as k (id, digest, name, tenant, user_id, scopes, rate_limit, expires_at)
select $1::text, $2::bytea, $3::text, $4::text, $5::text, $6::text[], $7::integer, $8::timestamptz
where ($4::text is null or exists (select from posthorn.tenants t where t.id = $4::text))
  and ($5::text is null or exists (
    select from posthorn.members m where m.tenant = $4::text and m.user_id = $5::text
  ))
returning ${keyColumns}
`;

/** A tenant, or a member of it. */
export interface KeyOwner {
  readonly tenant: string;
  readonly userId: string | null;
}

export const countKeys = value<number, [KeyOwner]>("count keys", fields("tenant", "userId"))`
select count(*)::integer as count
from posthorn.api_keys k
where k.tenant = $1::text
  and k.user_id is not distinct from $2::text
`;

export const deleteExpired = run<[KeyOwner]>("delete expired keys", fields("tenant", "userId"))`
delete from posthorn.api_keys k
where k.tenant = $1::text
  and k.user_id is not distinct from $2::text
  and k.expires_at <= posthorn.now()
`;

/** Returns false if the tenant has no such key. */
export const deleteKey = hasRow<[id: string, tenant: string | null]>("delete key")`
delete from posthorn.api_keys k
where k.id = $1::text
  and ($2::text is null or k.tenant = $2::text)
returning k.id
`;

// Precise to the minute: writing it for every request would make this the busiest table.
export const markUsed = run<[ids: readonly string[]]>("mark keys used")`
update posthorn.api_keys k
set last_used_at = posthorn.now()
where k.id = any ($1::text[])
  and (k.last_used_at is null or k.last_used_at < posthorn.now() - interval '1 minute')
`;
