// Finds deliveries that this worker has claimed in the database but not in memory: the reply to a claim was lost. Used
// only after the database was unreachable.
import type { ClaimedDelivery, Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ClaimedRow, claimedColumns, toClaimed } from "./claimed-row.ts";

export async function recoverClaimed(
  db: Queryable,
  workerId: number,
  claimedIds: readonly Uuid[],
): Promise<ClaimedDelivery[]> {
  const rows = await db.query<ClaimedRow>(recoverStatement, [workerId, uuidArray(claimedIds)]);
  return rows.map((row) => toClaimed(row));
}

const recoverStatement = statement(
  "recover claimed",
  `
select ${claimedColumns("q")}
from posthorn.queue q
join posthorn.events e on e.id = q.event_id
where q.claimed_by = $1::integer
  and (q.id in (select unnest($2::uuid[]))) is not true
order by q.next_at, q.id
`,
);
