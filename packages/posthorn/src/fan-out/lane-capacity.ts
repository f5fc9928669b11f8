// The number of rows of one lane that a worker holds in memory besides those in flight: enough to keep the endpoint
// busy, and few enough that a crash leaves few unknown outcomes.
export function laneCapacity({
  maxInFlight,
  rateLimit,
}: {
  maxInFlight: number;
  rateLimit: number | null;
}): number {
  const room = Math.max(50, maxInFlight * 2);
  // two seconds of work, so that other workers can take the rest
  return rateLimit === null ? room : Math.min(room, Math.max(maxInFlight, rateLimit * 2));
}
