import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toFilters } from "../../input/names.ts";
import { scopedTenant, tenantScope } from "../../principal.ts";

type Input = NonNullable<Parameters<Posthorn["replays"]["start"]>[0]>;

export function replayOperations({ replays }: Posthorn): Handlers<PosthornContract>["replays"] {
  return {
    start: async ({ body, principal }) => {
      const { dry_run: isPreview = false, ...rest } = body;
      const { user, id } = principal;
      const input = {
        ...toFilters<Input>(rest),
        tenant: scopedTenant(principal, body.tenant),
        requestedBy: user ?? id ?? undefined,
      };
      if (!isPreview) return await replays.start(input);
      return { dryRun: true as const, ...(await replays.preview(input)) };
    },
    list: ({ query, principal }) => replays.list({ ...query, tenant: scopedTenant(principal, query.tenant) }),
    get: ({ params, principal }) => replays.get(params.replay, tenantScope(principal)),
    cancel: ({ params, principal }) => replays.cancel(params.replay, tenantScope(principal)),
  };
}
