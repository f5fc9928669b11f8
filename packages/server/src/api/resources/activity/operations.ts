import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { scopedTenant } from "../../principal.ts";

export function activityOperations({ activity }: Posthorn): Handlers<PosthornContract>["activity"] {
  return {
    get: ({ query, principal }) => activity.get({ ...query, tenant: scopedTenant(principal, query.tenant) }),
  };
}
