// The resources whose operations only call the library.
import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { VERSION } from "../../version.ts";
import type { Handlers } from "../implement.ts";
import { unchecked } from "../input/names.ts";
import { scopedTenant, tenantScope } from "../principal.ts";

type Resources =
  | "activity"
  | "deliveryContracts"
  | "deliveryMode"
  | "replays"
  | "resends"
  | "sources"
  | "stats"
  | "system"
  | "tenants";

export function libraryOperations(
  { activity, contracts, deliveryMode, replays, resends, sources, stats, system, tenants }: Posthorn,
  hasSink: boolean,
): Pick<Handlers<PosthornContract>, Resources> {
  return {
    activity: { get: ({ query }) => activity.get(query) },
    deliveryContracts: {
      get: ({ query }) => contracts.get(query),
      ofEndpoint: ({ params, query }) => contracts.ofEndpoint(params.tenant, params.endpoint, query),
    },
    deliveryMode: {
      get: () => deliveryMode.get(),
      set: ({ body, principal: { user, id, kind } }) =>
        deliveryMode.set({ ...body, changedBy: user ?? id ?? kind }),
    },
    replays: {
      start: async ({ body: { dryRun: isPreview = false, ...filter }, principal }) => {
        const requester = {
          requestedBy: principal.user ?? principal.id ?? undefined,
          credential: principal.id ?? undefined,
          user: principal.user ?? undefined,
        };
        const input = { ...filter, tenant: scopedTenant(principal, filter.tenant), ...requester };
        if (!isPreview) return await replays.start(unchecked(input));
        return { dryRun: true as const, ...(await replays.preview(unchecked(input))) };
      },
      list: ({ query }) => replays.list(query),
      get: ({ params, principal }) => replays.get(params.replay, tenantScope(principal)),
      cancel: ({ params, principal }) => replays.cancel(params.replay, tenantScope(principal)),
    },
    resends: { list: ({ query }) => resends.list(query) },
    sources: {
      list: async () => ({ data: await sources.list(), nextCursor: null }),
      skip: ({ params }) => sources.skip(params.source),
      reset: ({ params }) => sources.reset(params.source),
      delete: ({ params }) => sources.delete(params.source),
    },
    stats: { get: ({ query }) => stats.get(query) },
    system: { get: async () => ({ version: VERSION, hasSink, ...(await system.get()) }) },
    tenants: {
      list: ({ query }) => tenants.list(query),
      put: ({ params, body }) => tenants.upsert(params.tenant, body),
      get: ({ params }) => tenants.get(params.tenant),
      delete: ({ params }) => tenants.delete(params.tenant),
    },
  };
}
