export type MemberRole = "owner" | "admin" | "member";

export interface MemberRow {
  readonly tenant: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly email: string | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.members m`. */
export const memberColumns = `m.tenant, m.user_id as "userId", m.role, m.email,
  posthorn.epoch_ms(m.created_at) as "createdMs", posthorn.epoch_ms(m.updated_at) as "updatedMs"`;
