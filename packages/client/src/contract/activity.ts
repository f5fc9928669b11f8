// Attempts over time, for charts. Workers write the roll-ups every few seconds.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointFilter, tenantFilter, time } from "./parts.ts";

const latency = (percentile: string) =>
  z
    .int()
    .nullable()
    .describe(`${percentile} percentile of the duration in milliseconds. Null without attempts.`);

const point = z.object({
  at: time.describe("Start of the interval, in UTC."),
  success: z.int().describe("Attempts with a 2xx response."),
  failed: z.int().describe("Failed attempts that are followed by a retry."),
  dead: z.int().describe("Failed attempts after which the delivery was dead."),
  p50: latency("50th"),
  p95: latency("95th"),
  p99: latency("99th"),
});

const total = point.omit({ at: true }).extend({
  success_share: z
    .number()
    .nullable()
    .describe("Share of successful attempts, from 0 to 1. Null without attempts."),
});

const activityOfPeriod = z
  .object({
    period: z.enum(["hour", "day", "month"]).describe("Length of the period."),
    step_seconds: z.int().describe("Seconds between two points."),
    points: z
      .array(point)
      .describe(
        "One point per interval, oldest first, also if nothing was sent. The last interval is not finished.",
      ),
    total: total.describe("Totals of the period."),
  })
  .meta({ id: "Activity" });
export type Activity = z.output<typeof activityOfPeriod>;

export const activity = {
  get: operation({
    method: "GET",
    path: "/api/v1/activity",
    summary: "Returns the number and latency of attempts over time",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: tenantFilter,
      endpoint: endpointFilter,
      period: z
        .enum(["hour", "day", "month"])
        .default("hour")
        .describe(
          "`hour`: in steps of 1 minute, or 5 minutes for a tenant or endpoint. `day`: in steps of 5 minutes. `month`: 30 days in steps of 1 hour.",
        ),
    }),
    answer: { status: 200, schema: activityOfPeriod },
  }),
};
