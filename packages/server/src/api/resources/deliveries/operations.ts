import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toFilters } from "../../input/names.ts";
import { hasScope, redaction, scopedTenant, tenantScope } from "../../principal.ts";

type Query = NonNullable<Parameters<Posthorn["deliveries"]["list"]>[0]>;

export function deliveryOperations({
  deliveries,
  endpoints,
  tenants,
}: Posthorn): Handlers<PosthornContract>["deliveries"] {
  return {
    list: ({ query, principal }) =>
      deliveries.list({ ...toFilters<Query>(query), tenant: scopedTenant(principal, query.tenant) }),
    listOfTenant: async ({ params, query }) => {
      const { id: tenant } = await tenants.get(params.tenant);
      return await deliveries.list({ ...toFilters<Query>(query), tenant });
    },
    listOfEndpoint: async ({ params, query }) => {
      const { id: endpoint, tenant } = await endpoints.get(params.tenant, params.endpoint);
      return await deliveries.list({ ...toFilters<Query>(query), tenant, endpoint });
    },
    get: ({ params, principal }) =>
      deliveries.get(params.delivery, { ...tenantScope(principal), ...redaction(principal) }),
    request: async ({ params, query, principal }) => {
      const hidesSettings = !hasScope(principal, "webhooks:manage");
      const scope = { ...tenantScope(principal), ...redaction(principal), hidesSettings };
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
    delete: async ({ params, principal }) => {
      await deliveries.delete(params.delivery, tenantScope(principal));
      return undefined;
    },
    retryQueue: ({ query, principal }) =>
      deliveries.retryQueue({ ...query, tenant: scopedTenant(principal, query.tenant) }),
  };
}
