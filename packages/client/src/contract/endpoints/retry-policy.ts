// The retry policy as an endpoint returns it, and its input formats.
import { presetsText, RETRY_PRESET_NAMES } from "@posthorn/wire";
import { z } from "zod";
import * as s from "../parts.ts";

/** The policy as an endpoint returns it. It is also accepted as input. */
export const retryPolicy = s.component("RetryPolicy", {
  kind: s.choice(
    ["gaps", "exponential"],
    "`gaps` has `gaps_ms`; `exponential` has `base_ms`, `cap_ms` and `max_attempts`.",
  ),
  gaps_ms: s.optional(z.array(z.int()), "Milliseconds between attempts, ±10 %, for the kind `gaps`."),
  base_ms: s.optional(
    z.int(),
    "For the kind `exponential`: after n failures, the wait is random up to `base_ms` · 2ⁿ milliseconds.",
  ),
  cap_ms: s.optional(z.int(), "Maximum wait in milliseconds, for the kind `exponential`."),
  max_attempts: s.optional(z.int(), "Maximum number of attempts, 1 to 101, for the kind `exponential`."),
  max_age_ms: s.optional(
    z.int(),
    "Maximum age of the event at an attempt, in milliseconds. Unlimited if absent.",
  ),
});

const duration = z.string().meta({ examples: ["30s"] });
const maxAge = s.optional(duration, "Maximum age of the event at an attempt. Unlimited by default.");

const maxAttempts = s.optional(
  z.int().meta({ minimum: 1, maximum: 101 }),
  "Maximum number of attempts: repeats the last gap, or leaves out the last ones.",
);

/** The input formats for the OpenAPI document. Requests are checked against one object with the fields of all. */
const retryPolicyFormats = [
  z.string().meta({
    title: "a preset or gaps",
    description: `${presetsText("`")}, or up to 100 gaps with units ms, s, m, h or d.`,
    examples: ["courier", "30s,5m,1h"],
  }),
  z
    .strictObject({
      preset: z.enum(RETRY_PRESET_NAMES).describe("The name of a preset."),
      max_attempts: maxAttempts,
      max_age: maxAge,
    })
    .meta({ title: "a preset with limits", description: "A preset with other limits." }),
  z
    .strictObject({
      gaps: s.list(
        duration,
        "Time between attempts, ±10 %, each at most 30d. An empty list means one attempt.",
        { maxItems: 100, examples: [["30s", "5m", "1h"]] },
      ),
      max_attempts: maxAttempts,
      max_age: maxAge,
    })
    .meta({ title: "gaps", description: "A list of gaps." }),
  z
    .strictObject({
      exponential: z
        .strictObject({
          base: duration.describe("After n failures, the wait is random between 0 and `base` · 2ⁿ."),
          cap: duration.describe("Maximum wait, at most 30d."),
          max_attempts: z
            .int()
            .meta({ description: "Maximum number of attempts.", minimum: 1, maximum: 101 }),
        })
        .describe("Exponential back-off."),
      max_age: maxAge,
    })
    .meta({ title: "exponential", description: "Exponential back-off with jitter." }),
  z
    .strictObject(retryPolicy.shape)
    .meta({ title: "as returned", description: "The format that an endpoint returns." }),
] as const;

export const retryPolicyInput = z
  .union([
    z.string(),
    z.strictObject({
      preset: z.string().optional(),
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
    description: "When and how often a failed delivery is retried, in one of these formats.",
    oneOf: retryPolicyFormats.map((format) => {
      const { $schema: _, ...schema } = z.toJSONSchema(format, { io: "input" });
      return schema;
    }),
  });
