import type { PosthornContract } from "@posthorn/client";
import { definitionOf, SETTING_NAMES, SETTINGS_SCOPE } from "@posthorn/wire";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { unchecked } from "../../input/names.ts";
import { hasScope, type Principal, redaction } from "../../principal.ts";

export function endpointOperations({ endpoints }: Posthorn): Handlers<PosthornContract>["endpoints"] {
  return {
    create: async ({ params, body }) => {
      const { endpoint, ...once } = await endpoints.create(params.tenant, unchecked(body));
      return { ...endpoint, ...once };
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

type EndpointView = Awaited<ReturnType<Posthorn["endpoints"]["get"]>>;

/**
 * Returns a function that redacts credentials in an endpoint's URL, headers and topic, unless the caller may change the
 * endpoint.
 */
function redactedFor(principal: Principal): (endpoint: EndpointView) => EndpointView {
  return hasScope(principal, SETTINGS_SCOPE) ? (endpoint) => endpoint : redacted;
}

const REDACTED = "[redacted]";

function redacted(endpoint: EndpointView): EndpointView {
  const settings = SETTING_NAMES.flatMap((name) => {
    const { redacted: part } = definitionOf(name);
    if (part === undefined) return [];
    return [[name, part === "query" ? withoutQuery(endpoint[name]) : withoutValues(endpoint[name])]];
  });
  const { websub } = endpoint;
  return {
    ...endpoint,
    ...Object.fromEntries(settings),
    websub: websub && { ...websub, topic: withoutQuery(websub.topic) },
  };
}

function withoutQuery(value: unknown): string {
  const url = String(value);
  const mark = url.indexOf("?");
  return mark === -1 ? url : `${url.slice(0, mark + 1)}${REDACTED}`;
}

function withoutValues(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(value as object).map((name) => [name, REDACTED]));
}
