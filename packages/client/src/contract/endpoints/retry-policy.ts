// When a failed delivery is tried again: as an endpoint shows it, and the ways to write it.
import { z } from "zod";

/** As an endpoint shows it; it may be sent back as it is. */
export const retryPolicy = z
  .object({
    kind: z
      .enum(["gaps", "exponential"])
      .describe("Whether it has `gaps_ms`, or `base_ms`, `cap_ms` and `max_attempts`."),
    gaps_ms: z
      .array(z.int())
      .optional()
      .describe("Of `gaps`: milliseconds from one attempt to the next, ±10 %; one attempt more than gaps."),
    base_ms: z
      .int()
      .optional()
      .describe("Of `exponential`: longest first wait in milliseconds, doubled by every failure."),
    cap_ms: z.int().optional().describe("Of `exponential`: longest wait there is, in milliseconds."),
    max_attempts: z.int().optional().describe("Of `exponential`: attempts in all, 1 to 101."),
    max_age_ms: z
      .int()
      .optional()
      .describe(
        "No attempt is made when the event would be older than this, in milliseconds; without it there is no such limit.",
      ),
  })
  .meta({ id: "RetryPolicy" });

const duration = z.string().meta({ examples: ["30s"] });
const maxAge = duration
  .optional()
  .describe("No attempt is made when the event would be older than this; left out: no such limit.");

/** The ways to write one, apart, for the reader; what is checked is one object with the fields of all. */
const retryPolicyWays = [
  z.string().meta({
    title: "a preset or gaps",
    description:
      "`courier` (1m, 5m, 15m, 1h, 6h), `short` (30s, 2m, 15m, 1h, 4h), `exponential` (12 attempts, 1m doubled up to 1d), `quick` (1s doubled, 10 attempts), or up to 100 gaps with units ms, s, m, h or d.",
    examples: ["courier", "30s,5m,1h"],
  }),
  z
    .strictObject({
      gaps: z.array(duration).meta({
        description:
          "Time from one attempt to the next, ±10 %, each at most 30d. None at all means one attempt.",
        maxItems: 100,
        examples: [["30s", "5m", "1h"]],
      }),
      max_age: maxAge,
    })
    .meta({ title: "gaps", description: "Gaps one by one." }),
  z
    .strictObject({
      exponential: z
        .strictObject({
          base: duration.describe(
            "Longest first wait; doubled by every failure, and what is waited is by chance from 0 up to it.",
          ),
          cap: duration.describe("Longest wait there is, at most 30d."),
          max_attempts: z.int().meta({ description: "Attempts in all.", minimum: 1, maximum: 101 }),
        })
        .describe("How the waits grow."),
      max_age: maxAge,
    })
    .meta({ title: "exponential", description: "Waits that double." }),
  z.strictObject(retryPolicy.shape).meta({ title: "as shown", description: "As an endpoint shows it." }),
] as const;

export const retryPolicyInput = z
  .union([
    z.string(),
    z.strictObject({
      gaps: z.array(z.string()).optional(),
      exponential: z
        .strictObject({ base: z.string(), cap: z.string(), max_attempts: z.int() })
        .partial()
        .optional(),
      max_age: z.string().optional(),
      ...z.strictObject(retryPolicy.shape).partial().shape,
    }),
  ])
  .meta({
    id: "RetryPolicyInput",
    description: "When a failed delivery is tried again, and how often, in one of these ways.",
    oneOf: retryPolicyWays.map((way) => {
      const { $schema: _, ...schema } = z.toJSONSchema(way, { io: "input" });
      return schema;
    }),
  });
