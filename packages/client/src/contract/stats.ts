// Statistics of deliveries.
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

const count = s.component("Count", {
  count: s.int("Number of deliveries, counted up to a limit."),
  is_exact: s.flag("False if `count` is a lower bound."),
});

const deliveryStats = s.component("Stats", {
  now: s.group("Current number of deliveries by state.", {
    pending: count.describe("Waiting for the first attempt, or queued again by a manual retry or a replay."),
    in_flight: count.describe("Being sent."),
    failed: count.describe("Waiting for a retry."),
    dead: count.describe("Dead letters."),
  }),
  attempts: s.group("Attempts that ended in the period, as in `GET /api/v1/activity`.", {
    since: s.time.describe("Start of the period, in UTC."),
    success: s.int("Attempts with a 2xx response."),
    failed: s.int("Failed attempts that are followed by a retry."),
    dead: s.int("Failed attempts after which the delivery was dead."),
    success_rate: s.nullableSuccessRate,
  }),
  latency_ms: s.nullable(
    z.object({
      p50: s.int("50th percentile in milliseconds."),
      p95: s.int("95th percentile in milliseconds."),
      p99: s.int("99th percentile in milliseconds."),
    }),
    "Time from the event to the success, including retries, of the newest 2000 finished deliveries of the period's events. Null without a success.",
  ),
});
export type Stats = z.output<typeof deliveryStats>;

export const stats = {
  get: operation("GET", "/api/v1/stats", {
    summary: "Counts deliveries by state, and recent attempts by outcome",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: s.tenantFilter,
      endpoint: s.endpointFilter,
      period: z.enum(["hour", "day"]).default("hour").describe("Period of `attempts` and `latency_ms`."),
    }),
    response: { status: 200, schema: deliveryStats },
  }),
};
