import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { unchecked } from "../../input/names.ts";
import { hasScope, redaction, scopedTenant, tenantScope } from "../../principal.ts";

export function deliveryOperations({
  deliveries,
  endpoints,
  tenants,
}: Posthorn): Handlers<PosthornContract>["deliveries"] {
  return {
    list: ({ query }) => deliveries.list(unchecked(query)),
    listOfTenant: async ({ params, query }) => {
      const { id: tenant } = await tenants.get(params.tenant);
      return await deliveries.list(unchecked({ ...query, tenant }));
    },
    listOfEndpoint: async ({ params, query }) => {
      const { id: endpoint, tenant } = await endpoints.get(params.tenant, params.endpoint);
      return await deliveries.list(unchecked({ ...query, tenant, endpoint }));
    },
    get: ({ params, principal }) =>
      deliveries.get(params.delivery, { ...tenantScope(principal), ...redaction(principal) }),
    request: async ({ params, query, principal }) => {
      const redactsSettings = !hasScope(principal, "webhooks:manage");
      const scope = { ...tenantScope(principal), ...redaction(principal), redactsSettings };
      const request = await deliveries.request(params.delivery, { ...query, ...scope });
      return { ...request, isExact: request.differences.length === 0 };
    },
    retry: async ({ params, principal }) => {
      await deliveries.retry(params.delivery, tenantScope(principal));
      return await deliveries.get(params.delivery);
    },
    cancel: async ({ params, principal }) => {
      await deliveries.cancel(params.delivery, tenantScope(principal));
      return await deliveries.get(params.delivery);
    },
    delete: ({ params, principal }) => deliveries.delete(params.delivery, tenantScope(principal)),
    deleteDead: async ({ body: { dryRun: isPreview = false, ...filter }, principal }) => {
      const query = { ...filter, tenant: scopedTenant(principal, filter.tenant) };
      if (!isPreview) return await deliveries.deleteDead(unchecked(query));
      const { cursor: _, ...counted } = query;
      return { dryRun: true as const, ...(await deliveries.countDead(unchecked(counted))) };
    },
    retryQueue: ({ query }) => deliveries.retryQueue(query),
  };
}
