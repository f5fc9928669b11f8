// Columns of an endpoint's handshake. No row: it needs none.

/** `HandshakeSettings` of the endpoint with the given id, as JSON, or null. */
export function handshakeColumn(endpointId: string): string {
  return `(
    select json_build_object('origin', hs.origin, 'rate', hs.requested_rate)
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ${endpointId}
  )`;
}

/** `Grant` as JSON, or null. */
export function grantColumn(endpointId: string): string {
  return `(
    select json_build_object(
      'state', hs.state,
      'allowedRate', hs.allowed_rate,
      'detail', hs.detail,
      'askedMs', posthorn.epoch_ms(hs.asked_at),
      'decidedMs', posthorn.epoch_ms(hs.decided_at)
    )
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ${endpointId}
  )`;
}

/** Whether `posthorn.endpoints ep` needs no handshake or has agreed. */
export const isGranted = `not exists (
    select
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ep.id
      and hs.state <> 'granted'
  )`;
