// Reads whether anything is due, claimed or waiting for fan-out. Tests wait until nothing is.
import { value } from "../../query.ts";
import { isFirstInSubject } from "./is-first-in-subject.ts";

export const isAnythingDue = value<boolean>("anything due")`
select exists (
    select
    from posthorn.unfinished q
    join posthorn.lanes l on l.endpoint_id = q.endpoint_id
    left join posthorn.endpoint_health h on h.endpoint_id = q.endpoint_id
    where not l.paused
      and (
        q.claimed_by is not null
        -- posthorn.now() is earlier than the snapshot, so a row that became due in between can have a next_at
        -- slightly in the future
        or q.next_at <= posthorn.now() + interval '50 milliseconds' and coalesce(greatest(h.probe_at, h.throttled_until) <= posthorn.now(), true)
        or (q.next_at = 'infinity' and ${isFirstInSubject("q")})
      )
  )
  or exists (select from posthorn.outbox)
  or exists (select from posthorn.incidents) as due
`;
