import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { unchecked } from "../../input/names.ts";
import { redaction } from "../../principal.ts";
import { redactedFor } from "./present.ts";

export function endpointOperations({ endpoints }: Posthorn): Handlers<PosthornContract>["endpoints"] {
  return {
    create: async ({ params, body }) => {
      const { endpoint, secret } = await endpoints.create(params.tenant, unchecked(body));
      return { ...endpoint, secret };
    },
    list: async ({ params, query, principal }) => {
      const page = await endpoints.list(params.tenant, query);
      return { ...page, data: page.data.map(redactedFor(principal)) };
    },
    listAll: async ({ query, principal }) => {
      const page = await endpoints.listAll(query);
      return { ...page, data: page.data.map(redactedFor(principal)) };
    },
    get: async ({ params, principal }) =>
      redactedFor(principal)(await endpoints.get(params.tenant, params.endpoint)),
    update: ({ params, body }) => endpoints.update(params.tenant, params.endpoint, unchecked(body)),
    delete: ({ params }) => endpoints.delete(params.tenant, params.endpoint),
    import: ({ params, body }) => endpoints.import(params.tenant, unchecked(body)),
    match: ({ params, body }) => endpoints.match(params.tenant, params.endpoint, unchecked(body)),
    listAttempts: ({ params, query, principal }) =>
      endpoints.attempts(params.tenant, params.endpoint, { ...query, ...redaction(principal) }),
    disable: ({ params }) => endpoints.disable(params.tenant, params.endpoint),
    enable: ({ params, body }) => endpoints.enable(params.tenant, params.endpoint, body),
    test: ({ params, body }) => endpoints.test(params.tenant, params.endpoint, body),
    rotateSecret: ({ params, body }) => endpoints.rotateSecret(params.tenant, params.endpoint, body),
    listSecrets: async ({ params }) => ({ data: await endpoints.secrets(params.tenant, params.endpoint) }),
    revokeSecret: ({ params }) => endpoints.revokeSecret(params.tenant, params.endpoint, params.secret),
  };
}
