// Attempts over time, for charts. Workers write the roll-ups every few seconds.
import { z } from "zod";
import { operation } from "./operation.ts";
import * as s from "./parts.ts";

const latency = (percentile: string) =>
  s.nullableInt(`${percentile} percentile of the duration in milliseconds. Null without attempts.`);

const point = z.object({
  at: s.time.describe("Start of the interval, in UTC."),
  success: s.int("Attempts with a 2xx response."),
  failed: s.int("Failed attempts that are followed by a retry."),
  dead: s.int("Failed attempts after which the delivery was dead."),
  p50: latency("50th"),
  p95: latency("95th"),
  p99: latency("99th"),
});

const total = point.omit({ at: true }).extend({
  success_rate: s.nullableSuccessRate,
});

const activityOfPeriod = s.component("Activity", {
  period: s.choice(["hour", "day", "month"], "Length of the period."),
  step_seconds: s.int("Seconds between two points."),
  points: s.list(
    point,
    "One point per interval, oldest first, also if nothing was sent. The last interval is not finished.",
  ),
  total: total.describe("Totals of the period."),
});
export type Activity = z.output<typeof activityOfPeriod>;

export const activity = {
  get: operation("GET", "/api/v1/activity", {
    summary: "Returns the number and latency of attempts over time",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: s.tenantFilter,
      endpoint: s.endpointFilter,
      period: z
        .enum(["hour", "day", "month"])
        .default("hour")
        .describe(
          "`hour`: in steps of 1 minute, or 5 minutes for a tenant or endpoint. `day`: in steps of 5 minutes. `month`: 30 days in steps of 1 hour.",
        ),
    }),
    response: { status: 200, schema: activityOfPeriod },
  }),
};
