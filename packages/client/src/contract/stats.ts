// Deliveries in numbers.
import { z } from "zod";
import { operation } from "./operation.ts";
import { endpointFilter, tenantFilter, time } from "./parts.ts";

const count = z
  .object({
    count: z.int().describe("How many there are, counted up to a limit."),
    is_exact: z.boolean().describe("False: there are at least so many."),
  })
  .meta({ id: "Count" });

const deliveryStats = z
  .object({
    now: z
      .object({
        pending: count.describe("To be sent."),
        in_flight: count.describe("Being sent right now."),
        failed: count.describe("To be tried again after a failure."),
        dead: count.describe("Given up: the dead letters."),
      })
      .describe("Deliveries that wait, are being sent, or are dead letters."),
    ended: z
      .object({
        since: time.describe("When the period began, in UTC."),
        success: count.describe("Answered with 2xx."),
        dead: count.describe("Given up for good."),
        success_rate: z.number().nullable().describe("From 0 to 1; null when none has ended."),
        latency_ms: z
          .object({
            p50: z.int().describe("Half of them took no longer, in milliseconds."),
            p95: z.int().describe("95 % of them took no longer, in milliseconds."),
            p99: z.int().describe("99 % of them took no longer, in milliseconds."),
          })
          .nullable()
          .describe("From the event to the success, retries included; null without a success."),
      })
      .describe("Deliveries of the events of the period that have ended; of more than 2000, the newest."),
  })
  .meta({ id: "Stats" });
export type Stats = z.output<typeof deliveryStats>;

export const stats = {
  get: operation({
    method: "GET",
    path: "/api/v1/stats",
    summary: "Counts deliveries by state, and how those that ended lately have ended",
    permission: { scopes: ["deliveries:read"], reach: "tenant" },
    query: z.object({
      tenant: tenantFilter,
      endpoint: endpointFilter,
      period: z.enum(["hour", "day"]).default("hour").describe("How far back `ended` looks."),
    }),
    answer: { status: 200, schema: deliveryStats },
  }),
};
