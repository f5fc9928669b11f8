// The schemas of an endpoint: as it is returned, created, changed and imported.
import { ENDPOINT_PRESET_NAMES } from "@posthorn/wire";
import { z } from "zod";
import { createdAt, endpointId, tenantId, time, updatedAt } from "../parts.ts";
import { settableSettings, shownSettings } from "./setting-schemas.ts";

const lastDay = z.object({
  success: z.int().describe("Attempts with a 2xx response."),
  failed: z.int().describe("All other attempts."),
  success_share: z.number().describe("Share of successful attempts, from 0 to 1."),
  points: z
    .array(
      z.object({
        at: time.describe("Start of the hour, in UTC."),
        success: z.int().describe("Attempts of this hour with a 2xx response."),
        failed: z.int().describe("All other attempts of this hour."),
      }),
    )
    .describe("24 hourly points, oldest first. The last one is the current hour."),
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
        "`manual`, `gone` (it responded with 410), `failures` (too many consecutive failures) or `no_success` (none for days). Null while it is active.",
      ),
    disabled_at: time.nullable().describe("When it was disabled. Null while it is active."),
    circuit: z
      .enum(["closed", "open", "half_open"])
      .describe(
        "`closed`: deliveries are sent. `open`: it failed too often, and deliveries are paused. `half_open`: it is being probed.",
      ),
    health: z
      .object({
        consecutive_failures: z.int().describe("Consecutive failures since the last success."),
        failing_since: time.nullable().describe("When the first of them happened. Null if there is none."),
        last_error: z.string().nullable().describe("The last error. Null after a success."),
        probe_at: time.nullable().describe("When an open circuit is probed next. Null unless it is open."),
        throttled_until: time
          .nullable()
          .describe(
            "When sending resumes after a 429, 502, 503 or 504 response. Null unless it is throttled.",
          ),
        last_day: lastDay.nullable().describe("Attempts of the last 24 hours. Null if there are none."),
      })
      .describe("Failures since the last success, and the attempts of the last day."),
    websub: z
      .object({
        topic: z.string().describe("The topic's URL. The query is redacted without webhooks:manage."),
        lease_ends_at: time.describe("When it expires unless its subscriber renews it."),
      })
      .nullable()
      .describe(
        "The WebSub subscription, which only its subscriber can change; the endpoint can be read and deleted. Null for other endpoints.",
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

/** A secret can be given on creation. Later, it is replaced by a rotation. */
export const endpointInput = z
  .strictObject({
    ...endpointPatch.shape,
    url: settableSettings.url,
    events: settableSettings.events,
    secret: z
      .string()
      .optional()
      .describe(
        "Your own signing secret: `whsec_…`, `whsk_…`, or any text for a vendor's scheme. If it is left out, one is generated.",
      ),
    scheme_secrets: z
      .record(z.string(), z.string())
      .optional()
      .meta({
        description: "Secrets of individual schemes, by name. The other schemes sign with `secret`.",
        examples: [{ github: "the secret that its receivers have" }],
      }),
  })
  .meta({ id: "EndpointInput" });

/** Read-only fields. */
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

/** With `id` it changes that endpoint, without it creates one. Read-only fields are ignored. */
export const endpointImport = z
  .strictObject({
    ...endpointInput.shape,
    ...endpointPatch.shape,
    id: endpointId.optional().describe("The endpoint to change. If it is left out, one is created."),
    ...readOnly.shape,
  })
  .meta({ id: "EndpointImport" });
