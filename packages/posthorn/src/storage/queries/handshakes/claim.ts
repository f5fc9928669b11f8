// Takes handshakes that are to be asked for. As with notices there is no lock while one is asked: its time is moved ahead,
// and when the process dies meanwhile, the next one asks again.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface DueHandshake {
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly url: string;
  readonly timeoutMs: number | null;
  readonly origin: string;
  readonly rate: number | null;
  readonly callbackToken: string;
  /** This one included. */
  readonly attempts: number;
}

export async function claimHandshakes(
  db: Queryable,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<DueHandshake[]> {
  return await db.query<DueHandshake>(claimStatement, [limit, leaseMs]);
}

const claimStatement = statement(
  "claim handshakes",
  `
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
    order by due.next_at
    limit $1::integer
    for update skip locked
  ))
returning hs.endpoint_id as "endpointId", ep.tenant, ep.url, ep.timeout_ms as "timeoutMs", hs.origin,
  hs.requested_rate as rate, hs.callback_token as "callbackToken", hs.attempts
`,
);
