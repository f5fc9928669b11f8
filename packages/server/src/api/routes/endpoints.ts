// Endpoints of a tenant. The secret is in the answer that makes or rotates it, and in no other.
import type { Posthorn } from "posthorn";
import { type Exchange, param } from "../exchange.ts";
import { endpointFields, endpointPatchFields } from "../input/endpoint.ts";
import { readFields, readOptionalFields, text, wholeNumber } from "../input/fields.ts";
import { readListQuery } from "../input/query.ts";
import { presentEndpoint } from "../present/endpoint.ts";
import { pageReply } from "../present/page.ts";
import { json, noContent, type Reply } from "../reply.ts";
import type { Method, Route } from "../router.ts";

type EndpointInput = Parameters<Posthorn["endpoints"]["create"]>[1];
type EndpointPatch = Parameters<Posthorn["endpoints"]["update"]>[2];
type EnableOptions = Parameters<Posthorn["endpoints"]["enable"]>[2];

export function endpointRoutes({ endpoints }: Posthorn): Route[] {
  const ofTenant = "/api/v1/tenants/{tenant}/endpoints";
  const one = `${ofTenant}/{endpoint}`;
  return [
    route("POST", ofTenant, async (exchange) => {
      const input = await readFields<EndpointInput>(exchange, endpointFields);
      const { endpoint, secret } = await endpoints.create(tenantOf(exchange), input);
      return json(201, { ...presentEndpoint(endpoint), secret });
    }),
    route("GET", ofTenant, async (exchange) => {
      const page = await endpoints.list(tenantOf(exchange), readListQuery(exchange));
      return pageReply(page, presentEndpoint);
    }),
    route("GET", one, async (exchange) =>
      json(200, presentEndpoint(await endpoints.get(tenantOf(exchange), endpointOf(exchange)))),
    ),
    route("PATCH", one, async (exchange) => {
      const patch = await readFields<EndpointPatch>(exchange, endpointPatchFields);
      return json(
        200,
        presentEndpoint(await endpoints.update(tenantOf(exchange), endpointOf(exchange), patch)),
      );
    }),
    route("DELETE", one, async (exchange) => {
      await endpoints.delete(tenantOf(exchange), endpointOf(exchange));
      return noContent;
    }),
    route("POST", `${one}/disable`, async (exchange) => {
      await readOptionalFields<object>(exchange, {});
      return json(200, presentEndpoint(await endpoints.disable(tenantOf(exchange), endpointOf(exchange))));
    }),
    route("POST", `${one}/enable`, async (exchange) => {
      const options = await readOptionalFields<EnableOptions>(exchange, ENABLING_FIELDS);
      const enabled = await endpoints.enable(tenantOf(exchange), endpointOf(exchange), options);
      return json(200, presentEndpoint(enabled));
    }),
    route("POST", `${one}/test`, async (exchange) => {
      await readOptionalFields<object>(exchange, {});
      const { eventId, deliveryId } = await endpoints.test(tenantOf(exchange), endpointOf(exchange));
      return json(202, { event_id: eventId, delivery_id: deliveryId });
    }),
    route("POST", `${one}/rotate-secret`, async (exchange) => {
      const options = await readOptionalFields<{ overlapSeconds?: number }>(exchange, ROTATION_FIELDS);
      const rotated = await endpoints.rotateSecret(tenantOf(exchange), endpointOf(exchange), options);
      return json(200, { secret: rotated.secret, previous_expires_at: rotated.previousExpiresAt });
    }),
  ];
}

const ENABLING_FIELDS = { backlog: { to: "backlog", type: text } };
const ROTATION_FIELDS = { overlap_seconds: { to: "overlapSeconds", type: wholeNumber } };

function route(method: Method, path: string, handle: (exchange: Exchange) => Promise<Reply>): Route {
  return { method, path, permission: "admin", handle };
}

function tenantOf(exchange: Exchange): string {
  return param(exchange, "tenant");
}

function endpointOf(exchange: Exchange): string {
  return param(exchange, "endpoint");
}
