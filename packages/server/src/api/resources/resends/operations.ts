import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { presentPage } from "../../present.ts";
import { scopedTenant } from "../../principal.ts";
import { presentResend } from "./present.ts";

export function resendOperations({ resends }: Posthorn): Handlers<PosthornContract>["resends"] {
  return {
    list: async ({ query, principal }) => {
      const { resent_after, tenant: asked, ...rest } = query;
      const resentAfter = resent_after === undefined ? undefined : new Date(resent_after);
      const tenant = scopedTenant(principal, asked);
      return presentPage(await resends.list({ ...rest, tenant, resentAfter }), presentResend);
    },
  };
}
