// The number of rows of one lane that a worker holds in memory besides those in flight: enough to keep the endpoint
// busy, and few enough that a crash leaves few unknown outcomes.
import type { Target } from "../model.ts";

/** `cap`: the attempts that the lane may have in flight now. */
export function laneCapacity(
  { maxInFlight, rateLimit }: Pick<Target, "maxInFlight" | "rateLimit">,
  cap = maxInFlight,
): number {
  const inFlight = Math.max(maxInFlight, cap);
  const capacity = Math.max(50, inFlight * 2);
  // two seconds of work, so that other workers can claim the rest
  return rateLimit === null ? capacity : Math.min(capacity, Math.max(inFlight, rateLimit * 2));
}
