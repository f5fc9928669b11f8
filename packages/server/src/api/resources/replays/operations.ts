import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toFilters } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { type Principal, scopedTenant, tenantScope } from "../../principal.ts";
import { presentReplay } from "./present.ts";

type Input = NonNullable<Parameters<Posthorn["replays"]["start"]>[0]>;

export function replayOperations({ replays }: Posthorn): Handlers<PosthornContract>["replays"] {
  return {
    start: async ({ body, principal }) => {
      const { dry_run: isPreview = false, ...rest } = body;
      const tenant = scopedTenant(principal, body.tenant);
      const requestedBy = nameOf(principal);
      const input = { ...toFilters<Input>(rest), tenant, requestedBy };
      if (!isPreview) return presentReplay(await replays.start(input));
      const { count, isExact } = await replays.preview(input);
      return { dry_run: true as const, count, is_exact: isExact };
    },
    list: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      return presentPage(await replays.list({ ...query, tenant }), presentReplay);
    },
    get: async ({ params, principal }) =>
      presentReplay(await replays.get(params.replay, tenantScope(principal))),
    cancel: async ({ params, principal }) =>
      presentReplay(await replays.cancel(params.replay, tenantScope(principal))),
  };
}

/** Who asked, for the people who see the replay later: the user, or the key. */
function nameOf({ user, id }: Principal): string | undefined {
  return user ?? id ?? undefined;
}
