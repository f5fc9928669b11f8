// How many rows of one lane a worker holds in memory besides those in flight: enough to keep the endpoint busy, few
// enough to be recorded as unknown after a crash without harm.
export function laneRoom(maxInFlight: number): number {
  return Math.max(50, maxInFlight * 2);
}
