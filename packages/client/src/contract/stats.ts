// Statistics of deliveries.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointFilter, tenantFilter, time } from "./parts.ts";

const count = z
  .object({
    count: z.int().describe("Number of deliveries, counted up to a limit."),
    is_exact: z.boolean().describe("False if `count` is a lower bound."),
  })
  .meta({ id: "Count" });

const deliveryStats = z
  .object({
    now: z
      .object({
        pending: count.describe("Waiting for the first attempt."),
        in_flight: count.describe("Being sent."),
        failed: count.describe("Waiting for a retry."),
        dead: count.describe("Dead letters."),
      })
      .describe("Current number of deliveries by state."),
    ended: z
      .object({
        since: time.describe("Start of the period, in UTC."),
        success: count.describe("Successful deliveries."),
        dead: count.describe("Dead letters."),
        success_rate: z
          .number()
          .nullable()
          .describe("Share of successful deliveries, from 0 to 1. Null if none has finished."),
        latency_ms: z
          .object({
            p50: z.int().describe("50th percentile in milliseconds."),
            p95: z.int().describe("95th percentile in milliseconds."),
            p99: z.int().describe("99th percentile in milliseconds."),
          })
          .nullable()
          .describe("Time from the event to the success, including retries. Null without a success."),
      })
      .describe("Finished deliveries of the period's events, at most the newest 2000."),
  })
  .meta({ id: "Stats" });
export type Stats = z.output<typeof deliveryStats>;

export const stats = {
  get: operation({
    method: "GET",
    path: "/api/v1/stats",
    summary: "Counts deliveries by state, and the results of recent ones",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: tenantFilter,
      endpoint: endpointFilter,
      period: z.enum(["hour", "day"]).default("hour").describe("Period of `ended`."),
    }),
    answer: { status: 200, schema: deliveryStats },
  }),
};
