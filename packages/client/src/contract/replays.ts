// Replays: sending again, by a filter, what was sent or could not be sent before.
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
const state = z
  .enum(["running", "finished", "cancelled"])
  .describe("`running`, `finished` when all that it found was looked at, or `cancelled` by somebody.");

export const replay = z
  .object({
    id: replayId,
    tenant: tenantId.nullable().describe("Null: of all tenants."),
    endpoint: endpointId.nullable().describe("Only of this endpoint; null: of all."),
    type: eventType.nullable().describe("Only of this event type; null: of all."),
    states: z.array(z.enum(REPLAYABLE)).nullable().describe("Null with `resubscribe`."),
    reason: z.string().nullable().describe("Only the dead with this `dead_reason`; null: with any."),
    created_after: time.nullable().describe("Only of events from this time on; null: from the first."),
    created_before: time.nullable().describe("Only of events before this time; null: up to its start."),
    resubscribe: z
      .boolean()
      .describe("Whether it makes deliveries of events that an endpoint wants now and has not got."),
    rate: z.int().describe("Deliveries per second."),
    requested_by: z.string().nullable().describe("The key or the user that asked; null: the admin key."),
    state,
    total: z.int().nullable().describe("How many there were when it began; null: more than are counted."),
    done: z.int().describe("How many became owed again."),
    skipped: z.record(z.string(), z.int()).describe("Why some were left alone, and how many."),
    created_at: createdAt,
    ended_at: time.nullable().describe("When it finished or was cancelled; null while it runs."),
  })
  .meta({ id: "Replay" });
export type Replay = z.output<typeof replay>;

export const replayPreview = z
  .object({
    dry_run: z.literal(true).describe("Nothing was started: this only counts."),
    count: z.int().describe("How many deliveries would be sent again."),
    is_exact: z.boolean().describe("False: at least so many."),
  })
  .meta({ id: "ReplayPreview" });
export type ReplayPreview = z.output<typeof replayPreview>;

const replayInput = z
  .strictObject({
    tenant: tenantId
      .optional()
      .describe("Only of this tenant; left out: of all, or of the tenant whose key it is."),
    endpoint: endpointId.optional().describe("Only of this endpoint; left out: of all."),
    type: eventType.optional().describe("Only of this event type; left out: of all."),
    states: z
      .array(z.enum(REPLAYABLE))
      .optional()
      .meta({ description: "Only deliveries in these states.", minItems: 1, default: ["dead"] }),
    reason: z
      .string()
      .optional()
      .describe("Only the dead with this `dead_reason`, such as `attempts_exhausted`; left out: with any."),
    created_after: createdAfter,
    created_before: createdBefore,
    rate: z.int().optional().meta({
      description: "Deliveries per second that become owed again.",
      minimum: 1,
      maximum: 5_000,
      default: 50,
    }),
    dry_run: z.boolean().optional().meta({ description: "Count them, and start nothing.", default: false }),
    resubscribe: z.boolean().optional().meta({
      description:
        "Events without a delivery to an endpoint that wants them now get one. Takes neither `states` nor `reason`.",
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
    summary: "Sends again what a filter matches, or says how many that would be",
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
    query: listQuery({ tenant: tenantFilter, state: state.optional().describe("Only in this state.") }),
    answer: { status: 200, schema: page(replay) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a replay and how far it has come",
    permission: reading,
    answer: { status: 200, schema: replay },
    refusals: { 404: ["replay_not_found"] },
  }),
  cancel: operation({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Ends a replay before its next step",
    permission: replaying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: replay },
    refusals: { 404: ["replay_not_found"], 409: ["replay_over"] },
  }),
};
