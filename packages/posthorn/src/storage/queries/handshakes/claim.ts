// Claims due handshakes, round-robin over tenants, except those of disabled endpoints. No lock is held during the
// request: the due time is moved ahead, so that another process repeats it after a crash.
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
  /** Including this one. */
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
`,
);
