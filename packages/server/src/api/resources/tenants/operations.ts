import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { presentTenant } from "./present.ts";

export function tenantOperations({ tenants }: Posthorn): Handlers<PosthornContract>["tenants"] {
  return {
    list: async ({ query }) => presentPage(await tenants.list(query), presentTenant),
    put: async ({ params, body }) => presentTenant(await tenants.upsert(params.tenant, toCamelCase(body))),
    get: async ({ params }) => presentTenant(await tenants.get(params.tenant)),
    delete: async ({ params }) => {
      await tenants.delete(params.tenant);
      return undefined;
    },
  };
}
