import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { scopedTenant } from "../../principal.ts";

export function resendOperations({ resends }: Posthorn): Handlers<PosthornContract>["resends"] {
  return {
    list: ({ query, principal }) => {
      const { resent_after, tenant: asked, ...rest } = query;
      const resentAfter = resent_after === undefined ? undefined : new Date(resent_after);
      return resends.list({ ...rest, tenant: scopedTenant(principal, asked), resentAfter });
    },
  };
}
