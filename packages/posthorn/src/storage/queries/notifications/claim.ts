// Claims due notifications. No lock is held while one is sent: the due time is moved ahead, so that another process
// sends it after a crash. The attempt is counted here, so that a crash cannot repeat forever.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface ClaimedNotification {
  readonly id: Uuid;
  /** Including this one. */
  readonly attempts: number;
  readonly notified: readonly string[];
}

export async function claimNotifications(
  db: Queryable,
  channel: string,
  { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number },
): Promise<ClaimedNotification[]> {
  return await db.query<ClaimedNotification>(claimStatement, [channel, limit, leaseMs]);
}

const claimStatement = statement(
  "claim notifications",
  `
update posthorn.notifications n
set attempts = n.attempts + 1,
  next_at = posthorn.now() + $3::double precision * interval '1 millisecond'
where n.id = any (array(
    select due.id
    from posthorn.notifications due
    where due.channel = $1::text
      and due.next_at <= posthorn.now()
    order by due.next_at
    limit $2::integer
    for update skip locked
  ))
returning n.id, n.attempts, to_json(n.notified) as notified
`,
);
