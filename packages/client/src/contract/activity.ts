// Attempts over time, for charts: from roll-ups that workers write every few seconds.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointFilter, tenantFilter, time } from "./parts.ts";

const latency = (share: string) =>
  z.int().nullable().describe(`${share} of the attempts took no longer, in milliseconds; null without any.`);

const point = z.object({
  at: time.describe("When the stretch began, in UTC."),
  success: z.int().describe("Attempts that were answered with 2xx."),
  failed: z.int().describe("Attempts that failed and are made again."),
  dead: z.int().describe("Attempts after which the delivery was given up."),
  p50: latency("Half"),
  p95: latency("95 %"),
  p99: latency("99 %"),
});

const total = point.omit({ at: true }).extend({
  success_share: z.number().nullable().describe("Of all attempts, from 0 to 1; null without any."),
});

const activityOfPeriod = z
  .object({
    period: z.enum(["hour", "day", "month"]).describe("How far back it goes."),
    step_seconds: z.int().describe("From one point to the next."),
    points: z
      .array(point)
      .describe(
        "One for each stretch, also where nothing was sent; the oldest first, the last one has only begun.",
      ),
    total: total.describe("All of them together."),
  })
  .meta({ id: "Activity" });
export type Activity = z.output<typeof activityOfPeriod>;

export const activity = {
  get: operation({
    method: "GET",
    path: "/api/v1/activity",
    summary: "Counts attempts over time, and how long they took, for charts",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: tenantFilter,
      endpoint: endpointFilter,
      period: z
        .enum(["hour", "day", "month"])
        .default("hour")
        .describe(
          "`hour`: by the minute, of a tenant or endpoint by 5 minutes. `day`: by 5 minutes. `month`: 30 days by the hour.",
        ),
    }),
    answer: { status: 200, schema: activityOfPeriod },
  }),
};
