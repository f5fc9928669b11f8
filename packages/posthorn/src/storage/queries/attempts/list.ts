// The attempts of one delivery, in order.
import type { AttemptTrigger, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface AttemptRow {
  readonly number: number;
  readonly startedMs: number | null;
  readonly durationMs: number | null;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseBody: Buffer | null;
  readonly nextRetryMs: number | null;
  readonly trigger: AttemptTrigger;
  readonly worker: number;
}

export async function attemptsOf(db: Queryable, deliveryId: Uuid): Promise<AttemptRow[]> {
  return await db.query<AttemptRow>(attemptsStatement, [deliveryId]);
}

const attemptsStatement = statement(
  "attempts of delivery",
  `
select
  a.number,
  posthorn.epoch_ms(a.started_at) as "startedMs",
  a.duration_ms as "durationMs",
  a.status_code as "statusCode",
  a.error,
  a.response_body as "responseBody",
  posthorn.epoch_ms(a.next_retry_at) as "nextRetryMs",
  a.trigger,
  a.worker
from posthorn.attempts a
where a.delivery_id = $1::uuid
order by a.number
`,
);
