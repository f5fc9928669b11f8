// Why a delivery is held, besides the time of its next attempt.
import type { Delivery, Endpoint, Tenant } from "@posthorn/client";

export type Hold =
  /** Until a user activates or enables it. */
  | { readonly by: "tenant" | "endpoint" }
  /** Until the receiver consents to webhooks. */
  | { readonly by: "handshake" }
  /** Until this time. */
  | { readonly by: "circuit" | "throttle"; readonly until: Date }
  /** The circuit is half-open: until the probe succeeds. */
  | { readonly by: "probe" };

/** Returns null if the delivery waits only for its next attempt. */
export function holdOf(
  { state, next_retry_at: due }: Pick<Delivery, "state" | "next_retry_at">,
  { is_active, handshake, circuit, health }: Pick<Endpoint, "is_active" | "handshake" | "circuit" | "health">,
  tenant: Pick<Tenant, "is_active">,
  now: number,
): Hold | null {
  if (state !== "pending" && state !== "failed") return null;
  if (!tenant.is_active) return { by: "tenant" };
  if (!is_active) return { by: "endpoint" };
  if (handshake !== null && handshake.state !== "granted") return { by: "handshake" };
  const dueAt = Math.max(now, due === null ? 0 : Date.parse(due));
  const isLater = (time: string | null): time is string => time !== null && Date.parse(time) > dueAt;
  if (isLater(health.throttled_until)) return { by: "throttle", until: new Date(health.throttled_until) };
  if (isLater(health.probe_at)) return { by: "circuit", until: new Date(health.probe_at) };
  return circuit === "half_open" && dueAt === now ? { by: "probe" } : null;
}
