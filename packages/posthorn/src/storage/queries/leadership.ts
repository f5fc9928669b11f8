// Acquires or renews leadership of a role: one row, free if it has expired or its worker was reaped.
import { hasRow } from "../query.ts";

/** Returns whether this worker leads for `leaseMs` from now. */
// Processes that do not lead write nothing. Of two that find it free, the second sees the first one's row when it gets
// the lock. A reaped worker never returns under its old id.
export const holdLeadership = hasRow<[workerId: number, leaseMs: number, role: string]>("hold leadership")`
update posthorn.leadership l
set worker_id = $1::integer,
  expires_at = posthorn.now() + $2::double precision * interval '1 millisecond'
where l.role = $3::text
  and exists (select from posthorn.workers me where me.id = $1::integer)
  and (
    l.worker_id = $1::integer
    or l.expires_at < posthorn.now()
    or not exists (select from posthorn.workers w where w.id = l.worker_id)
  )
returning l.role
`;
