// Deliveries in numbers.
import { z } from "zod";
import { operation } from "./operation.ts";
import { textFilter, time } from "./parts.ts";

const count = z
  .object({ count: z.int(), is_exact: z.boolean().describe("False: there are at least so many.") })
  .meta({ id: "Count" });

const deliveryStats = z
  .object({
    now: z
      .object({ pending: count, in_flight: count, failed: count, dead: count })
      .describe("Deliveries that wait, are being sent, or are dead letters."),
    ended: z
      .object({
        since: time,
        success: count,
        dead: count,
        success_rate: z.number().nullable().describe("From 0 to 1; null when none has ended."),
        latency_ms: z
          .object({ p50: z.int(), p95: z.int(), p99: z.int() })
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
      tenant: textFilter,
      endpoint: textFilter,
      period: z.enum(["hour", "day"]).default("hour"),
    }),
    answer: { status: 200, schema: deliveryStats },
  }),
};
