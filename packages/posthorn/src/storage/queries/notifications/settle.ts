// Records the result of sending a notification. Fenced by the number of attempts: a late sender does not overwrite a
// later attempt.
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import type { ClaimedNotification } from "./claim.ts";

export interface NotificationResult {
  /** At least one recipient has received it. */
  readonly isSent: boolean;
  /** Addresses reached by this attempt. */
  readonly notified: readonly string[];
  readonly error: string | null;
  /** Null: sent or discarded. */
  readonly retryInMs: number | null;
}

export async function settleNotification(
  db: Queryable,
  notification: ClaimedNotification,
  result: NotificationResult,
): Promise<void> {
  await db.query(settleStatement, [
    notification.id,
    notification.attempts,
    textArray(result.notified),
    result.error,
    result.retryInMs,
    result.isSent,
  ]);
}

const settleStatement = statement(
  "settle notification",
  `
update posthorn.notifications n
set notified = n.notified || $3::text[],
  last_error = $4::text,
  sent_at = case when $6::boolean then posthorn.now() else n.sent_at end,
  next_at = posthorn.now() + $5::double precision * interval '1 millisecond'
where n.id = $1::uuid
  and n.attempts = $2::integer
`,
);

/** Deletes notifications after a month. Returns how many. */
export async function pruneNotifications(db: Queryable, limit: number): Promise<number> {
  const rows = await db.query<{ id: Uuid }>(pruneStatement, [limit]);
  return rows.length;
}

const pruneStatement = statement(
  "prune notifications",
  `
delete from posthorn.notifications n
where n.id = any (array(
    select old.id
    from posthorn.notifications old
    where old.id < posthorn.lowest_uuid_at(posthorn.now() - interval '30 days')
    order by old.id
    limit $1::integer
  ))
returning n.id
`,
);
