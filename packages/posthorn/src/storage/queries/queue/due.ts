// Reads whether anything is due, claimed or waiting for fan-out. Tests wait until nothing is.
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isFirstInSubject } from "./is-first-in-subject.ts";

export async function isAnythingDue(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ due: boolean }>(dueStatement);
  return row?.due ?? false;
}

const dueStatement = statement(
  "anything due",
  `
select exists (
    select
    from posthorn.queue q
    join posthorn.lanes l on l.endpoint_id = q.endpoint_id
    left join posthorn.endpoint_health h on h.endpoint_id = q.endpoint_id
    where not l.paused
      and (
        q.claimed_by is not null
        -- a row that became due between the start of this statement and its snapshot is slightly ahead of its clock
        or q.next_at <= posthorn.now() + interval '50 milliseconds' and coalesce(greatest(h.probe_at, h.throttled_until) <= posthorn.now(), true)
        or (q.next_at = 'infinity' and ${isFirstInSubject("q")})
      )
  )
  or exists (select from posthorn.outbox) as due
`,
);
