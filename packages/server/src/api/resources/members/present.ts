import type { Member } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Sent } from "../../implement.ts";

type Given = Awaited<ReturnType<Posthorn["members"]["get"]>>;

/** A member as the API shows it. */
export function presentMember(member: Given): Sent<Member> {
  return {
    tenant: member.tenant,
    user: member.user,
    role: member.role,
    email: member.email,
    created_at: member.createdAt,
    updated_at: member.updatedAt,
  };
}
