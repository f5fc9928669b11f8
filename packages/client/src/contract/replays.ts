// Replays, which deliver again by a filter.
import { z } from "zod";
import { operation, type Permission } from "./operation.ts";
import * as s from "./parts.ts";

const REPLAYABLE = ["success", "failed", "dead"] as const;
const state = s.choice(
  ["scheduled", "running", "finished", "cancelled"],
  "State of the replay. `scheduled`: it starts at `start_at`.",
);

export const replay = s.component("Replay", {
  id: s.replayId,
  tenant: s.nullable(s.tenantId, "Only of this tenant. Null for all."),
  endpoint: s.nullable(s.endpointId, "Only of this endpoint. Null for all."),
  type: s.nullable(s.eventType, "Only of this event type. Null for all."),
  states: s.nullable(
    z.array(z.enum(REPLAYABLE)),
    "Only deliveries in these states. Null with `resubscribe`.",
  ),
  reason: s.nullableText("Only dead letters with this `dead_reason`. Null for any."),
  created_after: s.nullableTime("Only events created at this time or later. Null for no limit."),
  created_before: s.nullableTime(
    "Only events created before this time. Null for those before the start of the replay.",
  ),
  resubscribe: s.flag("Whether it creates deliveries for events that match an endpoint now and have none."),
  rate: s.int("Deliveries per second."),
  requested_by: s.nullableText("The key or user that started it. Null for the admin key."),
  state,
  total: s.nullableInt(
    "Number of matches at the start. Null before the start, or if there were too many to count.",
  ),
  done: s.int("Number of deliveries queued again."),
  outcomes: s.group(
    "The deliveries that were queued again, by their outcome until now. The numbers add up to `done`.",
    {
      delivered: s.int("The receiver returned 2xx."),
      failed: s.int("The last attempt failed, and they will be retried."),
      dead: s.int("Failed for good, cancelled or discarded."),
      waiting: s.int("Not attempted yet, or being sent. `waits_for` of each says what it waits for."),
      replayed_again: s.int("Queued again by a later replay, which counts them from then on."),
      in_batches: s.int("Added to the next batch of their endpoint, whose own delivery has the outcome."),
    },
  ),
  skipped: z.record(z.string(), z.int()).describe("Number of skipped deliveries by reason."),
  created_at: s.createdAt,
  start_at: s.nullableTime("When it was scheduled to start. Null if it started when it was created."),
  started_at: s.nullableTime("When it started. Null if it has not started."),
  ended_at: s.nullableTime("When it finished or was cancelled. Null before that."),
  cancel_reason: s.nullable(
    s.choice(
      ["requested", "key_revoked", "member_removed"],
      "`requested`: by a request. `key_revoked`: the key, token or portal link that scheduled it was revoked. `member_removed`: the member who scheduled it was removed.",
    ),
    "Why it was cancelled. Null unless it was.",
  ),
});
export type Replay = z.output<typeof replay>;

export const replayPreview = s.component("ReplayPreview", {
  dry_run: z.literal(true).describe("Always true: no replay was started."),
  count: s.int("Number of deliveries that would be sent again."),
  is_exact: s.flag("False if `count` is a lower bound."),
});
export type ReplayPreview = z.output<typeof replayPreview>;

const replayInput = s.inputComponent("ReplayInput", {
  tenant: s.optional(s.tenantId, "Only of this tenant. Defaults to all, or to the tenant of the key."),
  endpoint: s.optional(s.endpointId, "Only of this endpoint. Defaults to all."),
  type: s.optional(s.eventType, "Only of this event type. Defaults to all."),
  states: s.optional(z.array(z.enum(REPLAYABLE)), "Only deliveries in these states.", {
    minItems: 1,
    default: ["dead"],
  }),
  reason: s.optionalText(
    "Only dead letters with this `dead_reason`, such as `attempts_exhausted`. Defaults to any.",
  ),
  created_after: s.createdAfter,
  created_before: s.createdBefore,
  rate: s.optionalInt("Deliveries queued again per second.", { minimum: 1, maximum: 5_000, default: 50 }),
  start_at: s.startAt,
  dry_run: s.optionalFlag("Count the deliveries without starting a replay."),
  resubscribe: s.optionalFlag(
    "Create deliveries for events that match an endpoint now and have none. Cannot be combined with `states` or `reason`.",
  ),
});

const path = "/api/v1/replays/{replay}";
const reading: Permission = { scopes: ["deliveries:read", "deliveries:retry"], reach: "tenant" };
const replaying: Permission = { scopes: ["deliveries:retry"], reach: "tenant" };

export const replays = {
  start: operation("POST", "/api/v1/replays", {
    summary: "Starts or schedules a replay of the deliveries that match a filter, or counts them",
    permission: replaying,
    body: replayInput,
    isBodyOptional: true,
    response: { status: 202, schema: z.union([replay, replayPreview]) },
    errors: {
      404: ["tenant_not_found", "endpoint_not_found"],
      409: ["replay_limit_reached"],
      422: ["invalid_replay"],
    },
  }),
  list: operation("GET", "/api/v1/replays", {
    summary: "Lists replays, newest first",
    permission: reading,
    query: s.listQuery({
      tenant: s.tenantFilter,
      state: s.optional(state, "Only replays in this state."),
    }),
    response: { status: 200, schema: s.page(replay) },
  }),
  get: operation("GET", path, {
    summary: "Returns a replay and its progress",
    permission: reading,
    response: { status: 200, schema: replay },
    errors: { 404: ["replay_not_found"] },
  }),
  cancel: operation("POST", `${path}/cancel`, {
    summary: "Cancels a replay that is scheduled or running",
    permission: replaying,
    response: { status: 200, schema: replay },
    errors: { 404: ["replay_not_found"], 409: ["replay_finished"] },
  }),
};
