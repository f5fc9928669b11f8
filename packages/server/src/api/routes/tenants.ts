// Tenants have the caller's own ids: PUT makes or changes one.
import type { Posthorn } from "posthorn";
import { type Exchange, param } from "../exchange.ts";
import { flag, nullable, readOptionalFields, text } from "../input/fields.ts";
import { readListQuery } from "../input/query.ts";
import { pageReply } from "../present/page.ts";
import { presentTenant } from "../present/tenant.ts";
import { json, noContent } from "../reply.ts";
import type { Route } from "../router.ts";

export function tenantRoutes({ tenants }: Posthorn): Route[] {
  const path = "/api/v1/tenants/{tenant}";
  const id = (exchange: Exchange): string => param(exchange, "tenant");
  return [
    {
      method: "GET",
      path: "/api/v1/tenants",
      permission: "admin",
      handle: async (exchange) => pageReply(await tenants.list(readListQuery(exchange)), presentTenant),
    },
    {
      method: "PUT",
      path,
      permission: "admin",
      handle: async (exchange) => {
        const input = await readOptionalFields<{ name?: string | null; isActive?: boolean }>(
          exchange,
          FIELDS,
        );
        return json(200, presentTenant(await tenants.upsert(id(exchange), input)));
      },
    },
    {
      method: "GET",
      path,
      permission: "admin",
      handle: async (exchange) => json(200, presentTenant(await tenants.get(id(exchange)))),
    },
    {
      method: "DELETE",
      path,
      permission: "admin",
      handle: async (exchange) => {
        await tenants.delete(id(exchange));
        return noContent;
      },
    },
  ];
}

const FIELDS = {
  name: { to: "name", type: nullable(text) },
  is_active: { to: "isActive", type: flag },
};
