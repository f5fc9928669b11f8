// Replays: sending again, by a filter, what was sent or could not be sent before.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import {
  endpointId,
  eventType,
  listQuery,
  nothing,
  page,
  replayId,
  tenantId,
  textFilter,
  time,
  timeFilter,
} from "./parts.ts";

const REPLAYABLE = ["success", "failed", "dead"] as const;
const STATES = ["running", "finished", "cancelled"] as const;

export const replay = z
  .object({
    id: replayId,
    tenant: tenantId.nullable().describe("Null: of all tenants."),
    endpoint: endpointId.nullable(),
    type: eventType.nullable(),
    states: z.array(z.enum(REPLAYABLE)).nullable().describe("Null with `resubscribe`."),
    reason: z.string().nullable(),
    created_after: time.nullable(),
    created_before: time.nullable(),
    resubscribe: z.boolean(),
    rate: z.int().describe("Deliveries per second."),
    requested_by: z.string().nullable().describe("The key or the user that asked; null: the admin key."),
    state: z.enum(STATES),
    total: z.int().nullable().describe("How many there were when it began; null: more than are counted."),
    done: z.int().describe("How many became owed again."),
    skipped: z.record(z.string(), z.int()).describe("Why some were left alone, and how many."),
    created_at: time,
    ended_at: time.nullable(),
  })
  .meta({ id: "Replay" });
export type Replay = z.output<typeof replay>;

export const replayPreview = z
  .object({
    dry_run: z.literal(true),
    count: z.int(),
    is_exact: z.boolean().describe("False: at least so many."),
  })
  .meta({ id: "ReplayPreview" });
export type ReplayPreview = z.output<typeof replayPreview>;

const replayInput = z
  .strictObject({
    tenant: tenantId.optional(),
    endpoint: endpointId.optional(),
    type: eventType.optional(),
    states: z
      .array(z.enum(REPLAYABLE))
      .optional()
      .meta({ minItems: 1, default: ["dead"] }),
    reason: z.string().optional(),
    created_after: timeFilter,
    created_before: timeFilter,
    rate: z.int().optional().meta({ minimum: 1, maximum: 5_000, default: 50 }),
    dry_run: z.boolean().optional().describe("Count them, and start nothing."),
    resubscribe: z
      .boolean()
      .optional()
      .describe("Events without a delivery to an endpoint that wants them now get one."),
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
  }),
  list: operation({
    method: "GET",
    path: "/api/v1/replays",
    summary: "Lists replays, newest first",
    permission: reading,
    query: listQuery({ tenant: textFilter, state: z.enum(STATES).optional() }),
    answer: { status: 200, schema: page(replay) },
  }),
  get: operation({
    method: "GET",
    path,
    summary: "Shows a replay and how far it has come",
    permission: reading,
    answer: { status: 200, schema: replay },
  }),
  cancel: operation({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Ends a replay before its next step",
    permission: replaying,
    body: nothing,
    isBodyOptional: true,
    answer: { status: 200, schema: replay },
  }),
};
