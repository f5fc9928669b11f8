import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { scopedTenant } from "../../principal.ts";
import { presentStats } from "./present.ts";

export function statsOperations({ stats }: Posthorn): Handlers<PosthornContract>["stats"] {
  return {
    get: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      return presentStats(await stats.get({ ...query, tenant }));
    },
  };
}
