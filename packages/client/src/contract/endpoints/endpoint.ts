// What an endpoint is, and what of it can be set.
import { ENDPOINT_PRESET_NAMES } from "@posthorn/wire";
import { z } from "zod";
import { createdAt, endpointId, tenantId, time, updatedAt } from "../parts.ts";
import { settableSettings, shownSettings } from "./setting-schemas.ts";

const lastDay = z.object({
  success: z.int().describe("Attempts that were answered with 2xx."),
  failed: z.int().describe("Attempts that were not."),
  success_share: z.number().describe("Of all of them, from 0 to 1."),
  points: z
    .array(
      z.object({
        at: time.describe("When the hour began, in UTC."),
        success: z.int().describe("Attempts of this hour that were answered with 2xx."),
        failed: z.int().describe("Attempts of this hour that were not."),
      }),
    )
    .describe("24 of them, hour by hour, the oldest first; the last one is the hour that has begun."),
});

export const endpoint = z
  .object({
    id: endpointId,
    tenant: tenantId,
    ...shownSettings,
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        "`manual`, `gone` (it answered 410), `failures` (too many in a row) or `no_success` (for days); null while it is active.",
      ),
    disabled_at: time.nullable().describe("Since when nothing is sent to it; null while it is active."),
    circuit: z
      .enum(["closed", "open", "half_open"])
      .describe(
        "`closed`: all is sent. `open`: it failed too often, and nothing is sent for a while. `half_open`: it is being tried.",
      ),
    health: z
      .object({
        consecutive_failures: z.int().describe("Failures in a row since the last success."),
        failing_since: time.nullable().describe("When the first of them was; null without one."),
        last_error: z.string().nullable().describe("What went wrong last; null after a success."),
        probe_at: time.nullable().describe("When an open circuit is tried next; null unless it is open."),
        throttled_until: time
          .nullable()
          .describe("Until when nothing is sent because it answered 429, 502, 503 or 504; null otherwise."),
        last_day: lastDay.nullable().describe("Its attempts of the last 24 hours; null without any."),
      })
      .describe("How it has done since its last success, and in the last day."),
    websub: z
      .object({
        topic: z.string().describe("The topic's URL. Its query is masked without webhooks:manage."),
        lease_ends_at: time.describe("When it ends unless its subscriber renews it."),
      })
      .nullable()
      .describe(
        "Null unless somebody subscribed by WebSub. Such an endpoint can be read and deleted, and is changed by its subscriber alone.",
      ),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: "Endpoint" });
export type Endpoint = z.output<typeof endpoint>;

export const endpointPatch = z
  .strictObject({
    ...settableSettings,
    preset: z
      .enum(ENDPOINT_PRESET_NAMES)
      .nullable()
      .describe(
        "Fills in settings that belong together. `standard-webhooks`: what that standard recommends. Settings given in the same request take precedence.",
      ),
  })
  .partial()
  .meta({ id: "EndpointPatch" });

/** A secret of one's own can be brought along, but not put in later: that is what rotation is for. */
export const endpointInput = z
  .strictObject({
    ...endpointPatch.shape,
    url: settableSettings.url,
    events: settableSettings.events,
    secret: z
      .string()
      .optional()
      .describe(
        "A secret of your own to sign with, `whsec_…` or `whsk_…`, or with a vendor's scheme any text; left out: one is made.",
      ),
    scheme_secrets: z
      .record(z.string(), z.string())
      .optional()
      .meta({
        description: "Secrets of single schemes, by their names; the others sign with `secret`.",
        examples: [{ github: "the secret that its receivers have" }],
      }),
  })
  .meta({ id: "EndpointInput" });

/** What an endpoint shows and nobody sets. */
const readOnly = endpoint
  .pick({
    tenant: true,
    disabled_reason: true,
    disabled_at: true,
    circuit: true,
    health: true,
    websub: true,
    created_at: true,
    updated_at: true,
  })
  .partial();

/** With `id` it changes that endpoint, without it makes one. What a list shows besides is passed over. */
export const endpointImport = z
  .strictObject({
    ...endpointInput.shape,
    ...endpointPatch.shape,
    id: endpointId.optional().describe("Of the endpoint to change; left out: one is made."),
    ...readOnly.shape,
  })
  .meta({ id: "EndpointImport" });
