import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";

export function tenantOperations({ tenants }: Posthorn): Handlers<PosthornContract>["tenants"] {
  return {
    list: ({ query }) => tenants.list(query),
    put: ({ params, body }) => tenants.upsert(params.tenant, toCamelCase(body)),
    get: ({ params }) => tenants.get(params.tenant),
    delete: async ({ params }) => {
      await tenants.delete(params.tenant);
      return undefined;
    },
  };
}
