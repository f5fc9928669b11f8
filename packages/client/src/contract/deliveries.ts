// Deliveries: one for each event and endpoint, with every attempt that was made.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import {
  deliveryId,
  endpointId,
  eventId,
  eventType,
  listQuery,
  nothing,
  page,
  tenantId,
  textFilter,
  time,
  timeFilter,
} from "./parts.ts";

const STATES = ["pending", "in_flight", "success", "failed", "dead"] as const;

export const delivery = z
  .object({
    id: deliveryId,
    event_id: eventId,
    endpoint_id: endpointId,
    tenant: tenantId,
    event_type: eventType,
    subject: z.string().nullable(),
    sequence: z.int().nullable(),
    state: z.enum(STATES),
    attempt_count: z.int(),
    next_retry_at: time.nullable(),
    dead_reason: z.string().nullable(),
    replay_count: z.int(),
    created_at: time,
    delivered_at: time.nullable(),
    dead_at: time
      .nullable()
      .describe("When it was given up, called off or discarded; null unless it is dead."),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.output<typeof delivery>;

export const attempt = z
  .object({
    number: z.int(),
    started_at: time.nullable().describe("Null where the worker died: it may or may not have been sent."),
    duration_ms: z.int().nullable(),
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    response_body: z
      .string()
      .nullable()
      .describe(
        "The first 1 KB, or what went wrong in words. Masked where the catalogue hides anything of the event, without payloads:read.",
      ),
    next_retry_at: time.nullable(),
    trigger: z.enum(["event", "retry", "manual", "replay", "test"]),
    worker: z.int(),
  })
  .meta({ id: "Attempt" });
export type Attempt = z.output<typeof attempt>;

const deliveryDetail = delivery.extend({ attempts: z.array(attempt) }).meta({ id: "DeliveryDetail" });
export type DeliveryDetail = z.output<typeof deliveryDetail>;

const ofEndpoint = {
  state: z.enum(STATES).optional(),
  type: textFilter,
  reason: textFilter,
  created_after: timeFilter,
  created_before: timeFilter,
};
const ofTenant = { endpoint: textFilter, ...ofEndpoint };
const ofAll = { tenant: textFilter, ...ofTenant };

const path = "/api/v1/deliveries/{delivery}";
const reading: Permission = { scopes: ["deliveries:read"], reach: "tenant" };
const retrying: Permission = { scopes: ["deliveries:retry"], reach: "tenant" };

export const deliveries = {
  list: operation({
    method: "GET",
    path: "/api/v1/deliveries",
    summary: "Lists deliveries, newest first",
    permission: reading,
    query: listQuery(ofAll),
    answer: { status: 200, schema: page(delivery) },
  }),
  listOfTenant: operation({
    method: "GET",
    path: "/api/v1/tenants/{tenant}/deliveries",
    summary: "Lists a tenant's deliveries, newest first",
    permission: reading,
    query: listQuery(ofTenant),
    answer: { status: 200, schema: page(delivery) },
  }),
  listOfEndpoint: operation({
    method: "GET",
    path: "/api/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries",
    summary: "Lists an endpoint's deliveries, newest first",
    permission: reading,
    query: listQuery(ofEndpoint),
    answer: { status: 200, schema: page(delivery) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a delivery with its attempts",
    permission: reading,
    answer: { status: 200, schema: deliveryDetail },
  }),
  retry: operation({
    method: "POST",
    path: `${path}/retry`,
    summary: "Tries it again now, with a fresh budget of attempts",
    permission: retrying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 202, schema: delivery },
  }),
  cancel: operation({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Calls it off: dead, with the reason `cancelled`",
    permission: retrying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: delivery },
  }),
  delete: operation({
    method: "DELETE",
    path,
    summary: "Deletes a dead delivery for good",
    permission: retrying,
    answer: { status: 204, schema: null },
  }),
  retryQueue: operation({
    method: "GET",
    path: "/api/v1/retry-queue",
    summary: "Lists failed deliveries in the order of their next attempts",
    permission: reading,
    query: listQuery({ tenant: textFilter, endpoint: textFilter }),
    answer: { status: 200, schema: page(delivery) },
  }),
};
