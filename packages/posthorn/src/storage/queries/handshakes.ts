// Handshakes of endpoints; an endpoint without a row needs none. Claiming moves the due time ahead instead of holding a
// lock during the request, so that another process repeats it after a crash.
import type { HandshakeDecision, HandshakeSettings, HandshakeState, Uuid } from "../../model.ts";
import { fields, firstRow, hasRow, rows, run } from "../query.ts";

/** `HandshakeSettings` of `posthorn.endpoints ep` as JSON, or null. */
export const handshakeColumn = `(
    select json_build_object('origin', hs.origin, 'rate', hs.requested_rate)
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ep.id
  )`;

/** `Grant` of `posthorn.endpoints ep` as JSON, or null. */
export const grantColumn = `(
    select json_build_object(
      'state', hs.state,
      'allowedRate', hs.allowed_rate,
      'detail', hs.detail,
      'requestedMs', posthorn.epoch_ms(hs.asked_at),
      'decidedMs', posthorn.epoch_ms(hs.decided_at)
    )
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ep.id
  )`;

/** Whether `posthorn.endpoints ep` needs no handshake or has agreed. */
export const isGranted = `not exists (
    select
    from posthorn.endpoint_handshakes hs
    where hs.endpoint_id = ep.id
      and hs.state <> 'granted'
  )`;

/** The caller has locked the endpoint's row. */
export const putHandshake = run<[endpointId: Uuid, HandshakeSettings, callbackToken: string]>(
  "put handshake",
  (endpointId, { origin, rate }, callbackToken) => [endpointId, origin, rate, callbackToken],
)`
insert into posthorn.endpoint_handshakes (endpoint_id, origin, requested_rate, callback_token, state, next_at)
values ($1::uuid, $2::text, $3::integer, $4::text, 'requesting', posthorn.now())
on conflict (endpoint_id) do update
set origin = excluded.origin,
  requested_rate = excluded.requested_rate,
  allowed_rate = null,
  callback_token = excluded.callback_token,
  state = excluded.state,
  detail = null,
  attempts = 0,
  next_at = excluded.next_at,
  asked_at = null,
  decided_at = null
`;

export const deleteHandshake = run<[endpointId: Uuid]>(
  "delete handshake",
)`delete from posthorn.endpoint_handshakes where endpoint_id = $1::uuid`;

export interface DueHandshake {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly url: string;
  readonly timeoutMs: number | null;
  readonly origin: string;
  readonly rate: number | null;
  readonly callbackToken: string;
  /** Including this one. */
  readonly attempts: number;
}

/** Claims due handshakes, round-robin over tenants, except those of disabled endpoints. */
export const claimHandshakes = rows<DueHandshake, [{ readonly limit: number; readonly leaseMs: number }]>(
  "claim handshakes",
  fields("limit", "leaseMs"),
)`
update posthorn.endpoint_handshakes hs
set attempts = hs.attempts + 1,
  asked_at = posthorn.now(),
  next_at = posthorn.now() + $2::double precision * interval '1 millisecond'
from posthorn.endpoints ep
where ep.id = hs.endpoint_id
  and hs.endpoint_id = any (array(
    select due.endpoint_id
    from posthorn.endpoint_handshakes due
    where due.next_at <= posthorn.now()
      and due.endpoint_id = any (array(
        select waiting.endpoint_id
        from (
          select hs.endpoint_id, hs.next_at, row_number() over (partition by ep.tenant order by hs.next_at) as turn
          from posthorn.endpoint_handshakes hs
          join posthorn.endpoints ep on ep.id = hs.endpoint_id
          join posthorn.tenants t on t.id = ep.tenant
          where hs.next_at <= posthorn.now()
            and ep.is_active
            and t.is_active
        ) waiting
        order by waiting.turn, waiting.next_at
        limit $1::integer
      ))
    for update skip locked
  ))
returning hs.endpoint_id as "endpointId", ep.tenant, ep.url, ep.timeout_ms as "timeoutMs", hs.origin,
  hs.requested_rate as rate, hs.callback_token as "callbackToken", hs.attempts
`;

/** Returns false if the endpoint was changed meanwhile. */
// An inconclusive response must not revoke a grant that arrived by the callback URL meanwhile.
export const settleHandshake = hasRow<[callbackToken: string, HandshakeDecision]>(
  "settle handshake",
  (callbackToken, { state, allowedRate, detail, retryInMs }) => [
    callbackToken,
    state,
    allowedRate,
    detail,
    retryInMs,
  ],
)`
update posthorn.endpoint_handshakes hs
set state = $2::text,
  allowed_rate = $3::integer,
  detail = $4::text,
  next_at = posthorn.now() + $5::double precision * interval '1 millisecond',
  decided_at = case when $2::text in ('granted', 'denied') then posthorn.now() end
where hs.callback_token = $1::text
  and ($2::text = 'granted' or hs.state <> 'granted')
returning hs.endpoint_id
`;

export interface CalledBack {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly rate: number | null;
  readonly state: HandshakeState;
  readonly allowedRate: number | null;
}

export const findHandshake = firstRow<CalledBack, [callbackToken: string]>("find handshake")`
select hs.endpoint_id as "endpointId", ep.tenant, hs.requested_rate as rate, hs.state,
  hs.allowed_rate as "allowedRate"
from posthorn.endpoint_handshakes hs
join posthorn.endpoints ep on ep.id = hs.endpoint_id
where hs.callback_token = $1::text
  and ep.deleted_at is null
`;
