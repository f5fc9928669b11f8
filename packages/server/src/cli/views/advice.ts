// Advice for a delivery that has not succeeded. Pure.
import type { DeliveryDetail, Endpoint, WaitsFor } from "@posthorn/client";

type Known = Pick<
  DeliveryDetail,
  "id" | "state" | "dead_reason" | "waits_for" | "tenant" | "endpoint_id" | "attempts"
>;
type KnownEndpoint = Pick<Endpoint, "id" | "is_active" | "disabled_reason">;

/** Returns null if there is nothing to do. */
export function adviceFor(delivery: Known, endpoint: KnownEndpoint | null): string | null {
  const { state, id, waits_for } = delivery;
  if (state === "success") return null;
  if (state === "dead") {
    if (endpoint === null || endpoint.is_active) return deadLetterAdvice(delivery);
    return `${enableAdvice(delivery, endpoint)} and retry the dead letter: posthorn retry ${id}`;
  }
  if (waits_for !== null) return WAITING[waits_for.reason](delivery, waits_for, endpoint);
  if (state === "in_flight") return "It is being sent. Check again in a few seconds.";
  return "It waits for its turn. If it stays pending, check on the server that a worker is running: posthorn doctor";
}

type Advise = (delivery: Known, waits: WaitsFor, endpoint: KnownEndpoint | null) => string;

const remedy: Advise = (_delivery, waits) => waits.remedy;

const WAITING: Readonly<Record<WaitsFor["reason"], Advise>> = {
  retry_delay: ({ id }, { until }) =>
    `It is retried automatically at ${until}. To retry now: posthorn retry ${id}`,
  circuit: ({ id }, { until, remedy }) =>
    until === null
      ? remedy
      : `The circuit is open: deliveries are paused until the next probe at ${until}. Check the responses above. To retry now: posthorn retry ${id}`,
  rate_limit: remedy,
  cap: remedy,
  ordering: remedy,
  handshake: ({ tenant, endpoint_id }, { remedy }) =>
    `${remedy} Show it: posthorn endpoints get ${endpoint_id} --tenant ${tenant}`,
  endpoint_disabled: (delivery, { remedy }, endpoint) =>
    endpoint === null ? remedy : enableAdvice(delivery, endpoint),
  tenant_off: ({ tenant }, { remedy }) => `${remedy} posthorn tenants put ${tenant} --active`,
  sending_off: (_delivery, { remedy }) => `${remedy} posthorn delivery set on`,
};

function enableAdvice({ tenant }: Known, { id, disabled_reason }: KnownEndpoint): string {
  const first =
    disabled_reason === "manual"
      ? "The endpoint was disabled manually. To enable it"
      : "The endpoint is disabled. Fix the cause of its failures, then";
  return `${first}: posthorn endpoints enable ${id} --tenant ${tenant}`;
}

const REMEDIES: Readonly<Record<string, string>> = {
  attempts_exhausted: "All attempts of the retry policy failed. Fix the receiver",
  too_old: "It exceeded the maximum age of the retry policy. Fix the receiver",
  rejected: "The receiver rejected it; see the response above. Fix the receiver",
  redirect: "The receiver redirects. Change the endpoint's URL to the new location",
  blocked_address:
    "The URL resolves to a blocked address. Change it, or allow the address in POSTHORN_ALLOW_CIDRS",
  invalid_request: "The endpoint's settings do not make a valid request. Check its headers and URL",
  lease_expired: "The WebSub subscription expired. If the subscriber has renewed it",
  gone: "The receiver returned 410 Gone. If that is wrong, enable the endpoint",
  cancelled: "It was cancelled manually. If it is needed",
  discarded: "It was discarded when the endpoint was enabled. If it is needed",
};

/** The response body that a key without payloads:read sees. */
const REDACTED = "[redacted]";
const REJECTED_REDACTED =
  "The receiver rejected it; use a key with payloads:read to see the response. Fix the receiver";

function deadLetterAdvice({ id, dead_reason, attempts }: Known): string {
  if (dead_reason === "endpoint_deleted") return "The endpoint was deleted. It cannot be delivered.";
  const isRedacted = dead_reason === "rejected" && attempts.at(-1)?.response_body === REDACTED;
  const remedy = isRedacted
    ? REJECTED_REDACTED
    : (REMEDIES[dead_reason ?? ""] ?? "It is not retried automatically");
  return `${remedy}, then: posthorn retry ${id}`;
}
