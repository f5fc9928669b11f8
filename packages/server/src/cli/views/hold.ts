// Why a due delivery is not sent: its endpoint is disabled, the handshake is not granted, the receiver asked for a pause, or
// the circuit is open.
import type { Delivery, Endpoint } from "@posthorn/client";
import type { Remote } from "../remote/remote.ts";
import { distanceText } from "../terminal/text.ts";
import { nullIfRejected } from "./no-deliveries.ts";

/** Returns text such as `held: circuit open, next probe in 3 min`, or null. */
export function holdText(
  endpoint: Pick<Endpoint, "is_active" | "handshake" | "health">,
  now: Date,
): string | null {
  const { is_active, handshake, health } = endpoint;
  if (!is_active) return "held: the endpoint is disabled";
  if (handshake !== null && handshake.state !== "granted") return `held: the handshake is ${handshake.state}`;
  if (!isFuture(health.throttled_until, now) && isFuture(health.probe_at, now))
    return `held: circuit open, next probe ${distanceText(health.probe_at, now)}`;
  return pauseText(endpoint, now);
}

/** Returns the pause that also holds a manual retry, or null. */
export function pauseText({ health }: Pick<Endpoint, "health">, now: Date): string | null {
  if (!isFuture(health.throttled_until, now)) return null;
  return `held: the receiver asked for a pause that ends ${distanceText(health.throttled_until, now)}`;
}

function isFuture(time: string | null, now: Date): boolean {
  return time !== null && Date.parse(time) > now.getTime();
}

/** Loads the endpoints of due deliveries, each once, and says what holds them. */
export class Holds {
  readonly #remote: Remote;
  readonly #byEndpoint = new Map<string, string | null>();

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  /** Loads a limited number of endpoints. */
  async load(deliveries: readonly Delivery[]): Promise<void> {
    const { client, now } = this.#remote;
    for (const { tenant, endpoint_id: endpoint } of deliveries.filter((one) => isDue(one, now()))) {
      if (this.#byEndpoint.has(endpoint) || this.#byEndpoint.size === MAX_ENDPOINTS) continue;
      const found = await client.endpoints.get({ tenant, endpoint }).catch(nullIfRejected);
      this.#byEndpoint.set(endpoint, found && holdText(found, now()));
    }
  }

  of(delivery: Delivery): string | null {
    if (!isDue(delivery, this.#remote.now())) return null;
    return this.#byEndpoint.get(delivery.endpoint_id) ?? null;
  }
}

const MAX_ENDPOINTS = 50;

/** False while the delivery waits for its next retry. */
function isDue({ state, next_retry_at }: Delivery, now: Date): boolean {
  if (state !== "pending" && state !== "failed") return false;
  return next_retry_at === null || Date.parse(next_retry_at) <= now.getTime();
}
