import type { MemberRole } from "../members/member-row.ts";

export interface SessionRow {
  readonly id: string;
  readonly digest: Buffer;
  /** False: an unused link. */
  readonly isOpen: boolean;
  /** The key or token used to sign in. */
  readonly keyId: string | null;
  readonly tenant: string | null;
  readonly userId: string | null;
  /** The member's current role. */
  readonly role: MemberRole | null;
  /** Null: all permissions of the key or of the member's role. */
  readonly scopes: readonly string[] | null;
  readonly expiresMs: number;
  readonly endsInMs: number;
}

/** Columns of `posthorn.sessions s`. */
export const sessionColumns = `s.id, s.digest, s.is_open as "isOpen", s.key_id as "keyId", s.tenant, s.user_id as "userId",
  (select m.role from posthorn.members m where m.tenant = s.tenant and m.user_id = s.user_id) as role, to_json(s.scopes) as scopes,
  posthorn.epoch_ms(s.expires_at) as "expiresMs",
  posthorn.epoch_ms(s.expires_at) - posthorn.epoch_ms(posthorn.now()) as "endsInMs"`;
