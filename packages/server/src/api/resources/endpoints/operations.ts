import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";
import { redaction, scopedTenant } from "../../principal.ts";
import { redactedFor } from "./present.ts";

export function endpointOperations({ endpoints }: Posthorn): Handlers<PosthornContract>["endpoints"] {
  return {
    create: async ({ params, body }) => {
      const { endpoint, secret } = await endpoints.create(params.tenant, toCamelCase(body));
      return { ...endpoint, secret };
    },
    list: async ({ params, query, principal }) => {
      const page = await endpoints.list(params.tenant, query);
      return { ...page, data: page.data.map(redactedFor(principal)) };
    },
    listAll: async ({ query, principal }) => {
      const tenant = scopedTenant(principal, query.tenant);
      const page = await endpoints.listAll({ ...query, tenant });
      return { ...page, data: page.data.map(redactedFor(principal)) };
    },
    get: async ({ params, principal }) =>
      redactedFor(principal)(await endpoints.get(params.tenant, params.endpoint)),
    update: ({ params, body }) => endpoints.update(params.tenant, params.endpoint, toCamelCase(body)),
    delete: async ({ params }) => {
      await endpoints.delete(params.tenant, params.endpoint);
      return undefined;
    },
    import: ({ params, body }) => endpoints.import(params.tenant, toCamelCase(body)),
    match: ({ params, body }) => endpoints.match(params.tenant, params.endpoint, toCamelCase(body)),
    listAttempts: ({ params, query, principal }) =>
      endpoints.attempts(params.tenant, params.endpoint, { ...query, ...redaction(principal) }),
    disable: ({ params }) => endpoints.disable(params.tenant, params.endpoint),
    enable: ({ params, body }) => endpoints.enable(params.tenant, params.endpoint, body),
    test: ({ params, body }) => endpoints.test(params.tenant, params.endpoint, body),
    rotateSecret: ({ params, body }) =>
      endpoints.rotateSecret(params.tenant, params.endpoint, toCamelCase(body)),
    listSecrets: async ({ params }) => ({ data: await endpoints.secrets(params.tenant, params.endpoint) }),
    revokeSecret: async ({ params }) => {
      await endpoints.revokeSecret(params.tenant, params.endpoint, params.secret);
      return undefined;
    },
  };
}
