// The column of an endpoint's health. No row: healthy.

/** `RecordedHealth` of the endpoint with the given id, as JSON, or null. */
export function healthColumn(endpointId: string): string {
  return `(
    select json_build_object(
      'consecutiveFailures', h.consecutive_failures,
      'failingSinceMs', posthorn.epoch_ms(h.failing_since),
      'lastError', h.last_error,
      'trips', h.trips,
      'probeAtMs', posthorn.epoch_ms(h.probe_at),
      'throttles', h.throttles,
      'throttledUntilMs', posthorn.epoch_ms(h.throttled_until)
    )
    from posthorn.endpoint_health h
    where h.endpoint_id = ${endpointId}
  )`;
}
