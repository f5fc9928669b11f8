// Records the result of a handshake, unless a new one was started.
import type { HandshakeDecision, HandshakeState, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

/** Returns false if the endpoint was changed meanwhile. */
export async function settleHandshake(
  tx: Queryable,
  callbackToken: string,
  { state, allowedRate, detail, retryInMs }: HandshakeDecision,
): Promise<boolean> {
  const values = [callbackToken, state, allowedRate, detail, retryInMs];
  return (await tx.query(settleStatement, values)).length > 0;
}

// An inconclusive response must not revoke a grant that arrived by the callback URL meanwhile.
const settleStatement = statement(
  "settle handshake",
  `
update posthorn.endpoint_handshakes hs
set state = $2::text,
  allowed_rate = $3::integer,
  detail = $4::text,
  next_at = posthorn.now() + $5::double precision * interval '1 millisecond',
  decided_at = case when $2::text in ('granted', 'denied') then posthorn.now() end
where hs.callback_token = $1::text
  and ($2::text = 'granted' or hs.state <> 'granted')
returning hs.endpoint_id
`,
);

export interface CalledBack {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly rate: number | null;
  readonly state: HandshakeState;
  readonly allowedRate: number | null;
}

export async function findHandshake(db: Queryable, callbackToken: string): Promise<CalledBack | null> {
  const [row] = await db.query<CalledBack>(findStatement, [callbackToken]);
  return row ?? null;
}

const findStatement = statement(
  "find handshake",
  `
select hs.endpoint_id as "endpointId", ep.tenant, hs.requested_rate as rate, hs.state,
  hs.allowed_rate as "allowedRate"
from posthorn.endpoint_handshakes hs
join posthorn.endpoints ep on ep.id = hs.endpoint_id
where hs.callback_token = $1::text
  and ep.deleted_at is null
`,
);
