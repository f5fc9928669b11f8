import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { hasScope, type Principal, redaction, scopedTenant } from "../../principal.ts";
import { presentEndpointAttempt } from "../deliveries/present.ts";
import { presentEndpoint, presentRedactedEndpoint, presentSecret } from "./present.ts";

export function endpointOperations({ endpoints }: Posthorn): Handlers<PosthornContract>["endpoints"] {
  return {
    create: async ({ params, body }) => {
      const { endpoint, secret } = await endpoints.create(params.tenant, toCamelCase(body));
      return { ...presentEndpoint(endpoint), secret };
    },
    list: async ({ params, query, principal }) =>
      presentPage(await endpoints.list(params.tenant, query), presentFor(principal)),
    listAll: async ({ query, principal }) => {
      const asked = { ...query, tenant: scopedTenant(principal, query.tenant) };
      return presentPage(await endpoints.listAll(asked), presentFor(principal));
    },
    get: async ({ params, principal }) =>
      presentFor(principal)(await endpoints.get(params.tenant, params.endpoint)),
    update: async ({ params, body }) =>
      presentEndpoint(await endpoints.update(params.tenant, params.endpoint, toCamelCase(body))),
    delete: async ({ params }) => {
      await endpoints.delete(params.tenant, params.endpoint);
      return undefined;
    },
    import: async ({ params, body }) => {
      const { dryRun, endpoints: items } = await endpoints.import(params.tenant, toCamelCase(body));
      return { dry_run: dryRun, endpoints: items };
    },
    match: async ({ params, body }) =>
      await endpoints.match(params.tenant, params.endpoint, toCamelCase(body)),
    listAttempts: async ({ params, query, principal }) => {
      const asked = { ...query, ...redaction(principal) };
      const page = await endpoints.attempts(params.tenant, params.endpoint, asked);
      return presentPage(page, presentEndpointAttempt);
    },
    disable: async ({ params }) => presentEndpoint(await endpoints.disable(params.tenant, params.endpoint)),
    enable: async ({ params, body }) =>
      presentEndpoint(await endpoints.enable(params.tenant, params.endpoint, body)),
    test: async ({ params, body }) => {
      const { eventId, deliveryId } = await endpoints.test(params.tenant, params.endpoint, body);
      return { event_id: eventId, delivery_id: deliveryId };
    },
    rotateSecret: async ({ params, body }) => {
      const rotated = await endpoints.rotateSecret(params.tenant, params.endpoint, toCamelCase(body));
      return { secret: rotated.secret, previous_expires_at: rotated.previousExpiresAt };
    },
    listSecrets: async ({ params }) => {
      const secrets = await endpoints.secrets(params.tenant, params.endpoint);
      return { data: secrets.map(presentSecret) };
    },
    revokeSecret: async ({ params }) => {
      await endpoints.revokeSecret(params.tenant, params.endpoint, params.secret);
      return undefined;
    },
  };
}

function presentFor(principal: Principal): typeof presentEndpoint {
  return hasScope(principal, "webhooks:manage") ? presentEndpoint : presentRedactedEndpoint;
}
