// Advice for a delivery that has not succeeded. Pure.
import type { DeliveryDetail, Endpoint } from "@posthorn/client";

type Known = Pick<DeliveryDetail, "id" | "state" | "dead_reason" | "next_retry_at" | "tenant" | "attempts">;
type KnownEndpoint = Pick<Endpoint, "id" | "is_active" | "disabled_reason" | "circuit" | "health">;

/** Returns null if there is nothing to do. */
export function adviceFor(delivery: Known, endpoint: KnownEndpoint | null, now: Date): string | null {
  const { state, id, tenant } = delivery;
  if (state === "success") return null;
  if (state === "in_flight") return "It is being sent at this moment. Look again in a few seconds.";
  if (endpoint !== null && !endpoint.is_active) {
    const first =
      endpoint.disabled_reason === "manual"
        ? "The endpoint was disabled by a person. When it may be sent to again"
        : "The endpoint is disabled. Set right what it fails with, then";
    const enable = `${first}: posthorn endpoints enable ${endpoint.id} --tenant ${tenant}`;
    return state === "dead"
      ? `${enable} and, since a dead letter is not sent by itself: posthorn retry ${id}`
      : enable;
  }
  if (state === "dead") return deadLetterAdvice(delivery);
  const pauseEnds = endpoint?.health.throttled_until ?? null;
  if (pauseEnds !== null && Date.parse(pauseEnds) > now.getTime()) {
    return `The receiver asked for a pause until ${pauseEnds}. It is tried again by itself after that, and not before.`;
  }
  if (endpoint !== null && endpoint.circuit !== "closed") {
    return `The endpoint fails so often that it is only probed, next at ${endpoint.health.probe_at ?? "any moment"}. Look at what it answers; to try this one now: posthorn retry ${id}`;
  }
  if (delivery.next_retry_at !== null) {
    return `It is tried again by itself at ${delivery.next_retry_at}. To try it now: posthorn retry ${id}`;
  }
  return "It waits for its turn. If it stays so, see on the machine of the server whether a worker delivers: posthorn doctor";
}

const REMEDIES: Readonly<Record<string, string>> = {
  attempts_exhausted: "It was tried as often as the retry policy allows. Set the receiver right",
  too_old: "It became older than the retry policy allows. Set the receiver right",
  rejected: "The receiver refuses it, and says why in its answer above. Set the receiver right",
  redirect: "The receiver is elsewhere now. Change the endpoint's URL to where it redirects",
  blocked_address:
    "The URL leads to an address that may not be called. Change it, or allow the address in POSTHORN_ALLOW_CIDRS",
  invalid_request: "The endpoint's settings make no valid request. Look at its headers and URL",
  lease_ended: "The WebSub subscription had ended. If its subscriber has renewed it",
  gone: "The receiver said that it is gone. If it is not, enable the endpoint",
  cancelled: "It was cancelled by hand. If it is wanted after all",
  discarded: "It was discarded when the endpoint was enabled. If it is wanted after all",
};

/** The response body that a key without payloads:read sees. */
const REDACTED = "[redacted]";
const REJECTED_REDACTED =
  "The receiver refuses it, and says why in its answer, which a key with payloads:read shows. Set the receiver right";

function deadLetterAdvice({ id, dead_reason, attempts }: Known): string {
  if (dead_reason === "endpoint_deleted")
    return "The endpoint is deleted; nothing can be sent to it any more.";
  const isHidden = dead_reason === "rejected" && attempts.at(-1)?.response_body === REDACTED;
  const remedy = isHidden
    ? REJECTED_REDACTED
    : (REMEDIES[dead_reason ?? ""] ?? "It is not tried again by itself");
  return `${remedy}, then: posthorn retry ${id}`;
}
