import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toFilters } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { hasScope, redaction, scopedTenant, tenantScope } from "../../principal.ts";
import { presentDelivery, presentDeliveryDetail, presentRequest } from "./present.ts";

type Query = NonNullable<Parameters<Posthorn["deliveries"]["list"]>[0]>;

export function deliveryOperations({
  deliveries,
  endpoints,
  tenants,
}: Posthorn): Handlers<PosthornContract>["deliveries"] {
  return {
    list: async ({ query, principal }) => {
      const filters = toFilters<Query>(query);
      const tenant = scopedTenant(principal, query.tenant);
      return presentPage(await deliveries.list({ ...filters, tenant }), presentDelivery);
    },
    listOfTenant: async ({ params, query }) => {
      const filters = toFilters<Query>(query);
      const { id: tenant } = await tenants.get(params.tenant);
      return presentPage(await deliveries.list({ ...filters, tenant }), presentDelivery);
    },
    listOfEndpoint: async ({ params, query }) => {
      const filters = toFilters<Query>(query);
      const { id: endpoint, tenant } = await endpoints.get(params.tenant, params.endpoint);
      return presentPage(await deliveries.list({ ...filters, tenant, endpoint }), presentDelivery);
    },
    get: async ({ params, principal }) =>
      presentDeliveryDetail(
        await deliveries.get(params.delivery, { ...tenantScope(principal), ...redaction(principal) }),
      ),
    request: async ({ params, query, principal }) => {
      const mayManage = hasScope(principal, "webhooks:manage");
      const scope = { ...tenantScope(principal), ...redaction(principal), hidesSettings: !mayManage };
      return presentRequest(await deliveries.request(params.delivery, { ...query, ...scope }));
    },
    retry: async ({ params, principal }) => {
      await deliveries.retry(params.delivery, tenantScope(principal));
      return presentDelivery(await deliveries.get(params.delivery));
    },
    cancel: async ({ params, principal }) => {
      await deliveries.cancel(params.delivery, tenantScope(principal));
      return presentDelivery(await deliveries.get(params.delivery));
    },
    delete: async ({ params, principal }) => {
      await deliveries.delete(params.delivery, tenantScope(principal));
      return undefined;
    },
    retryQueue: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      return presentPage(await deliveries.retryQueue({ ...query, tenant }), presentDelivery);
    },
  };
}
