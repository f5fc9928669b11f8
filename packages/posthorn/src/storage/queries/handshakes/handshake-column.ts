// How an endpoint's handshake is read: what is asked for, and what came of it. No row: it is not asked.

/** Of the endpoint whose id is in the given expression: a `HandshakeSettings` as JSON, or null. */
export function handshakeColumn(endpointId: string): string {
  return `(
    select json_build_object('origin', hs.origin, 'rate', hs.requested_rate)
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ${endpointId}
  )`;
}

/** A `Grant` as JSON, or null. */
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

/** For `posthorn.endpoints ep`: nothing stands in the way, or it was asked and agreed. */
export const isGranted = `not exists (
    select
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ep.id
      and hs.state <> 'granted'
  )`;
