import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { scopedTenant } from "../../principal.ts";

export function statsOperations({ stats }: Posthorn): Handlers<PosthornContract>["stats"] {
  return {
    get: ({ query, principal }) => stats.get({ ...query, tenant: scopedTenant(principal, query.tenant) }),
  };
}
