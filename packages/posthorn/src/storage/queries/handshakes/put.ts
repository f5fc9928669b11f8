// Starts or removes a handshake. The caller holds the endpoint's row.
import type { HandshakeSettings, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function putHandshake(
  tx: Queryable,
  endpointId: Uuid,
  { origin, rate }: HandshakeSettings,
  callbackToken: string,
): Promise<void> {
  await tx.query(putStatement, [endpointId, origin, rate, callbackToken]);
}

const putStatement = statement(
  "put handshake",
  `
insert into posthorn.endpoint_handshakes (endpoint_id, origin, requested_rate, callback_token, state, next_at)
values ($1::uuid, $2::text, $3::integer, $4::text, 'asking', posthorn.now())
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
`,
);

export async function deleteHandshake(tx: Queryable, endpointId: Uuid): Promise<void> {
  await tx.query(deleteStatement, [endpointId]);
}

const deleteStatement = statement(
  "delete handshake",
  "delete from posthorn.endpoint_handshakes where endpoint_id = $1::uuid",
);
