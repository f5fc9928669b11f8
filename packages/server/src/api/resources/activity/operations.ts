import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { scopedTenant } from "../../principal.ts";
import { presentActivity } from "./present.ts";

export function activityOperations({ activity }: Posthorn): Handlers<PosthornContract>["activity"] {
  return {
    get: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      return presentActivity(await activity.get({ ...query, tenant }));
    },
  };
}
