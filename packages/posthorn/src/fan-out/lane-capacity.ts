// How many rows of one lane a worker holds in memory besides those in flight: enough to keep the endpoint busy, few
// enough to be recorded as unknown after a crash without harm.
export function laneCapacity({
  maxInFlight,
  rateLimit,
}: {
  maxInFlight: number;
  rateLimit: number | null;
}): number {
  const room = Math.max(50, maxInFlight * 2);
  // two seconds' worth, so that rows do not wait in memory where nobody else can take them
  return rateLimit === null ? room : Math.min(room, Math.max(maxInFlight, rateLimit * 2));
}
