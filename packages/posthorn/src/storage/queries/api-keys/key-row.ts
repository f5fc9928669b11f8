import type { MemberRole } from "../members/member-row.ts";

export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly tenant: string | null;
  readonly userId: string | null;
  /** The current role of the member whose token it is. */
  readonly role: MemberRole | null;
  readonly scopes: readonly string[];
  readonly rateLimit: number | null;
  readonly createdMs: number;
  readonly expiresMs: number | null;
  readonly lastUsedMs: number | null;
}

/** A key with the data needed to verify it. */
export interface KnownKey extends KeyRow {
  readonly digest: Buffer;
  /** Null: it does not expire. */
  readonly endsInMs: number | null;
}

/** Columns of `posthorn.api_keys k`. */
export const keyColumns = `k.id, k.name, k.tenant, k.user_id as "userId",
  (select m.role from posthorn.members m where m.tenant = k.tenant and m.user_id = k.user_id) as role, to_json(k.scopes) as scopes, k.rate_limit as "rateLimit",
  posthorn.epoch_ms(k.created_at) as "createdMs", posthorn.epoch_ms(k.expires_at) as "expiresMs",
  posthorn.epoch_ms(k.last_used_at) as "lastUsedMs"`;
