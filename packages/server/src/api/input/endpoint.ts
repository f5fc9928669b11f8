// The fields of an endpoint that a caller may set. Null means: as the deployment is set.
import {
  anyOf,
  type Fields,
  flag,
  nullable,
  object,
  readOnly,
  text,
  textList,
  textMap,
  wholeNumber,
  wholeNumberList,
} from "./fields.ts";

/** As a preset or gaps, spelled out, or as an endpoint shows it. */
const retryPolicy = anyOf(
  text,
  object({
    gaps: { to: "gaps", type: textList },
    exponential: {
      to: "exponential",
      type: object({
        base: { to: "base", type: text },
        cap: { to: "cap", type: text },
        max_attempts: { to: "maxAttempts", type: wholeNumber },
      }),
    },
    max_age: { to: "maxAge", type: text },
    kind: { to: "kind", type: text },
    gaps_ms: { to: "gapsMs", type: wholeNumberList },
    base_ms: { to: "baseMs", type: wholeNumber },
    cap_ms: { to: "capMs", type: wholeNumber },
    max_attempts: { to: "maxAttempts", type: wholeNumber },
    max_age_ms: { to: "maxAgeMs", type: wholeNumber },
  }),
);

export const endpointPatchFields: Fields = {
  url: { to: "url", type: text },
  description: { to: "description", type: nullable(text) },
  events: { to: "events", type: textList },
  is_active: { to: "isActive", type: flag },
  format: { to: "format", type: nullable(text) },
  signature: {
    to: "signature",
    type: nullable(
      object({
        schemes: { to: "schemes", type: textList },
        header_prefix: { to: "headerPrefix", type: text },
      }),
    ),
  },
  headers: { to: "headers", type: nullable(textMap) },
  timeout_ms: { to: "timeoutMs", type: nullable(wholeNumber) },
  max_in_flight: { to: "maxInFlight", type: nullable(wholeNumber) },
  rate_limit: { to: "rateLimit", type: nullable(wholeNumber) },
  retry_policy: { to: "retryPolicy", type: nullable(retryPolicy) },
  retry_on: { to: "retryOn", type: nullable(text) },
  ordering: { to: "ordering", type: nullable(text) },
  fifo_on_dead: { to: "fifoOnDead", type: nullable(text) },
  id: { to: "id", type: readOnly },
  tenant: { to: "tenant", type: readOnly },
  filter: { to: "filter", type: readOnly },
  disabled_reason: { to: "disabledReason", type: readOnly },
  disabled_at: { to: "disabledAt", type: readOnly },
  circuit: { to: "circuit", type: readOnly },
  health: { to: "health", type: readOnly },
  created_at: { to: "createdAt", type: readOnly },
  updated_at: { to: "updatedAt", type: readOnly },
};

/** A secret of one's own can be brought along, but not put in later: that is what rotation is for. */
export const endpointFields: Fields = { ...endpointPatchFields, secret: { to: "secret", type: text } };
