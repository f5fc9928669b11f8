// The schemas of an endpoint: as it is returned, created, changed and imported.
import { ENDPOINT_PRESET_NAMES } from "@posthorn/wire";
import { z } from "zod";
import * as s from "../parts.ts";
import { settableSettings, shownSettings } from "./setting-schemas.ts";

const lastDay = z.object({
  success: s.int("Attempts with a 2xx response."),
  failed: s.int("All other attempts."),
  success_rate: s.successRate,
  points: s.list(
    z.object({
      at: s.time.describe("Start of the hour, in UTC."),
      success: s.int("Attempts of this hour with a 2xx response."),
      failed: s.int("All other attempts of this hour."),
    }),
    "One point per hour, oldest first: 25, of which the first and the last are not complete, or 24.",
  ),
});

export const endpoint = s.component("Endpoint", {
  id: s.endpointId,
  tenant: s.tenantId,
  ...shownSettings,
  disabled_reason: s.nullableText(
    "`manual`, `gone` (it responded with 410), `failures` (too many consecutive failures) or `no_success` (none for days). Null while it is active.",
  ),
  disabled_at: s.nullableTime("When it was disabled. Null while it is active."),
  circuit: s.choice(
    ["closed", "open", "half_open"],
    "`closed`: deliveries are sent. `open`: it failed too often, and deliveries are paused. `half_open`: it is being probed.",
  ),
  health: s.group("Failures since the last success, the current limit, and the attempts of the last day.", {
    consecutive_failures: s.int("Consecutive failures since the last success."),
    failing_since: s.nullableTime("When the first of them happened. Null if there is none."),
    last_error: s.nullableText("The last error. Null after a success."),
    probe_at: s.nullableTime("When an open circuit is probed next. Null unless it is open."),
    throttled_until: s.nullableTime(
      "When sending resumes after a 429, 502, 503 or 504 response. Null unless it is throttled.",
    ),
    current_max_in_flight: s.int(
      "The current limit on attempts in flight: from `max_in_flight` to `max_in_flight_burst`, or lower unless the circuit is closed. Recorded about every 5 seconds while it changes.",
    ),
    last_day: s.nullable(
      lastDay,
      "Attempts of the last 24 hours, as in `GET /api/v1/activity` with the period `day`. Null if there are none.",
    ),
  }),
  websub: s.nullable(
    z.object({
      topic: s.text("The topic's URL. The query is redacted without webhooks:manage."),
      lease_expires_at: s.time.describe("When it expires unless its subscriber renews it."),
    }),
    "The WebSub subscription, which only its subscriber can change; the endpoint can be read and deleted. Null for other endpoints.",
  ),
  created_at: s.createdAt,
  updated_at: s.updatedAt,
});
export type Endpoint = z.output<typeof endpoint>;

export const endpointPatch = z
  .strictObject({
    ...settableSettings,
    preset: s.nullable(
      z.enum(ENDPOINT_PRESET_NAMES),
      "Fills in settings that belong together. `standard-webhooks`: what that standard recommends. Settings given in the same request take precedence.",
    ),
  })
  .partial()
  .meta({ id: "EndpointPatch" });

/** A secret can be given on creation. Later, it is replaced by a rotation. */
export const endpointInput = s.inputComponent("EndpointInput", {
  ...endpointPatch.shape,
  url: settableSettings.url,
  events: settableSettings.events,
  secret: s.optionalText(
    "Your own signing secret: `whsec_…`, `whsk_…`, any text for a vendor's scheme, or anything with its `secret_encoding`. If it is left out, one is generated.",
  ),
  secret_encoding: s.optional(
    s.secretEncoding,
    "How `secret` and `scheme_secrets` are written, if they come from another sender: `text`, `base64` or `hex`, 1 to 256 bytes. Every scheme signs with exactly these bytes. `whsec`: only Posthorn's own format.",
  ),
  scheme_secrets: s.optional(
    z.record(z.string(), z.string()),
    "Secrets of individual schemes, by name. The other schemes sign with `secret`.",
    { examples: [{ github: "the secret that its receivers have" }] },
  ),
});

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
export const endpointImport = s.inputComponent("EndpointImport", {
  ...endpointInput.shape,
  ...endpointPatch.shape,
  id: s.optional(s.endpointId, "The endpoint to change. If it is left out, one is created."),
  ...readOnly.shape,
});
