import type { Posthorn } from "posthorn";

type Member = Awaited<ReturnType<Posthorn["members"]["get"]>>;

/** A member as the API shows it. */
export function presentMember(member: Member): object {
  return {
    tenant: member.tenant,
    user: member.user,
    role: member.role,
    email: member.email,
    created_at: member.createdAt,
    updated_at: member.updatedAt,
  };
}
