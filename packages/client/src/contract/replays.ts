// Replays, which deliver again by a filter.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import {
  createdAfter,
  createdAt,
  createdBefore,
  endpointId,
  eventType,
  listQuery,
  nothing,
  page,
  replayId,
  tenantFilter,
  tenantId,
  time,
} from "./parts.ts";

const REPLAYABLE = ["success", "failed", "dead"] as const;
const state = z.enum(["running", "finished", "cancelled"]).describe("State of the replay.");

export const replay = z
  .object({
    id: replayId,
    tenant: tenantId.nullable().describe("Only of this tenant. Null for all."),
    endpoint: endpointId.nullable().describe("Only of this endpoint. Null for all."),
    type: eventType.nullable().describe("Only of this event type. Null for all."),
    states: z
      .array(z.enum(REPLAYABLE))
      .nullable()
      .describe("Only deliveries in these states. Null with `resubscribe`."),
    reason: z.string().nullable().describe("Only dead letters with this `dead_reason`. Null for any."),
    created_after: time.nullable().describe("Only events created at this time or later. Null for no limit."),
    created_before: time
      .nullable()
      .describe("Only events created before this time. Null for those before the start of the replay."),
    resubscribe: z
      .boolean()
      .describe("Whether it creates deliveries for events that match an endpoint now and have none."),
    rate: z.int().describe("Deliveries per second."),
    requested_by: z.string().nullable().describe("The key or user that started it. Null for the admin key."),
    state,
    total: z
      .int()
      .nullable()
      .describe("Number of matches at the start. Null if there were too many to count."),
    done: z.int().describe("Number of deliveries queued again."),
    skipped: z.record(z.string(), z.int()).describe("Number of skipped deliveries by reason."),
    created_at: createdAt,
    ended_at: time.nullable().describe("When it finished or was cancelled. Null while it runs."),
  })
  .meta({ id: "Replay" });
export type Replay = z.output<typeof replay>;

export const replayPreview = z
  .object({
    dry_run: z.literal(true).describe("Always true: no replay was started."),
    count: z.int().describe("Number of deliveries that would be sent again."),
    is_exact: z.boolean().describe("False if `count` is a lower bound."),
  })
  .meta({ id: "ReplayPreview" });
export type ReplayPreview = z.output<typeof replayPreview>;

const replayInput = z
  .strictObject({
    tenant: tenantId
      .optional()
      .describe("Only of this tenant. Defaults to all, or to the tenant of the key."),
    endpoint: endpointId.optional().describe("Only of this endpoint. Defaults to all."),
    type: eventType.optional().describe("Only of this event type. Defaults to all."),
    states: z
      .array(z.enum(REPLAYABLE))
      .optional()
      .meta({ description: "Only deliveries in these states.", minItems: 1, default: ["dead"] }),
    reason: z
      .string()
      .optional()
      .describe("Only dead letters with this `dead_reason`, such as `attempts_exhausted`. Defaults to any."),
    created_after: createdAfter,
    created_before: createdBefore,
    rate: z.int().optional().meta({
      description: "Deliveries queued again per second.",
      minimum: 1,
      maximum: 5_000,
      default: 50,
    }),
    dry_run: z
      .boolean()
      .optional()
      .meta({ description: "Count the deliveries without starting a replay.", default: false }),
    resubscribe: z.boolean().optional().meta({
      description:
        "Create deliveries for events that match an endpoint now and have none. Cannot be combined with `states` or `reason`.",
      default: false,
    }),
  })
  .meta({ id: "ReplayInput" });

const path = "/api/v1/replays/{replay}";
const reading: Permission = { scopes: ["deliveries:read", "deliveries:retry"], reach: "tenant" };
const replaying: Permission = { scopes: ["deliveries:retry"], reach: "tenant" };

export const replays = {
  start: operation({
    method: "POST",
    path: "/api/v1/replays",
    summary: "Starts a replay of the deliveries that match a filter, or counts them",
    permission: replaying,
    body: replayInput,
    isBodyOptional: true,
    answer: { status: 202, schema: z.union([replay, replayPreview]) },
    refusals: {
      404: ["tenant_not_found", "endpoint_not_found"],
      409: ["replay_limit_reached"],
      422: ["invalid_replay"],
    },
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/replays",
    summary: "Lists replays, newest first",
    permission: reading,
    query: listQuery({
      tenant: tenantFilter,
      state: state.optional().describe("Only replays in this state."),
    }),
    answer: { status: 200, schema: page(replay) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Returns a replay and its progress",
    permission: reading,
    answer: { status: 200, schema: replay },
    refusals: { 404: ["replay_not_found"] },
  }),
  cancel: operation({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Cancels a replay",
    permission: replaying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: replay },
    refusals: { 404: ["replay_not_found"], 409: ["replay_over"] },
  }),
};
