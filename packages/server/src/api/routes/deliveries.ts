// Deliveries: of everything, of a tenant, of an endpoint; one with its attempts; and another try.
import type { Posthorn } from "posthorn";
import { param } from "../exchange.ts";
import { readOptionalFields } from "../input/fields.ts";
import { readListQuery, text, time } from "../input/query.ts";
import { presentDelivery, presentDeliveryDetail } from "../present/delivery.ts";
import { pageReply } from "../present/page.ts";
import { json } from "../reply.ts";
import type { Route } from "../router.ts";

export function deliveryRoutes({ deliveries, endpoints, tenants }: Posthorn): Route[] {
  return [
    {
      method: "GET",
      path: "/api/v1/deliveries",
      permission: "admin",
      handle: async (exchange) => {
        const filter = readListQuery(exchange, {
          tenant: text("tenant"),
          endpoint: text("endpoint"),
          ...FILTERS,
        });
        return pageReply(await deliveries.list(filter), presentDelivery);
      },
    },
    {
      method: "GET",
      path: "/api/v1/tenants/{tenant}/deliveries",
      permission: "admin",
      handle: async (exchange) => {
        const filter = readListQuery(exchange, { endpoint: text("endpoint"), ...FILTERS });
        const { id: tenant } = await tenants.get(param(exchange, "tenant"));
        return pageReply(await deliveries.list({ ...filter, tenant }), presentDelivery);
      },
    },
    {
      method: "GET",
      path: "/api/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries",
      permission: "admin",
      handle: async (exchange) => {
        const filter = readListQuery(exchange, FILTERS);
        const tenant = param(exchange, "tenant");
        const { id: endpoint } = await endpoints.get(tenant, param(exchange, "endpoint"));
        return pageReply(await deliveries.list({ ...filter, tenant, endpoint }), presentDelivery);
      },
    },
    {
      method: "GET",
      path: "/api/v1/deliveries/{delivery}",
      permission: "admin",
      handle: async (exchange) =>
        json(200, presentDeliveryDetail(await deliveries.get(param(exchange, "delivery")))),
    },
    {
      method: "POST",
      path: "/api/v1/deliveries/{delivery}/retry",
      permission: "admin",
      handle: async (exchange) => {
        await readOptionalFields<object>(exchange, {});
        const id = param(exchange, "delivery");
        await deliveries.retry(id);
        return json(202, presentDelivery(await deliveries.get(id)));
      },
    },
  ];
}

const FILTERS = {
  state: text("state"),
  type: text("type"),
  reason: text("reason"),
  created_after: time("createdAfter"),
  created_before: time("createdBefore"),
};
