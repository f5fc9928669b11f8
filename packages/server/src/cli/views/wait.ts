// What a delivery waits for, as text.
import type { Delivery } from "@posthorn/client";
import { distanceText } from "../terminal/text.ts";

/** Returns text such as `retry in 4 s` or `held: circuit open, next probe in 3 min`; null if it waits for nothing. */
export function waitText({ waits_for }: Pick<Delivery, "waits_for">, now: Date): string | null {
  if (waits_for === null) return null;
  const end = waits_for.until === null ? null : distanceText(waits_for.until, now);
  switch (waits_for.reason) {
    case "retry_delay":
      return end === "now" ? "retry due now" : `retry ${end}`;
    case "circuit":
      return end === null
        ? "held: circuit half-open, the endpoint is being probed"
        : `held: circuit open, next probe ${end}`;
    case "rate_limit":
      return end === null
        ? "held: the endpoint's rate limit is reached"
        : `held: the receiver asked for a pause that ends ${end}`;
    case "cap":
      return "held: the endpoint's limit of attempts in flight is reached";
    case "ordering":
      return "held: an earlier delivery of its subject is not finished";
    case "handshake":
      return "held: the receiver has not agreed to the handshake";
    case "endpoint_disabled":
      return "held: the endpoint is disabled";
    case "sending_off":
      return "held: delivery is off for the whole installation";
    case "tenant_off":
      return "held: the tenant is inactive";
  }
}
