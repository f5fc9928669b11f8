// Returns claimed deliveries that were not started: the endpoint was paused, or this worker stops.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function giveBack(db: Queryable, workerId: number, ids: readonly Uuid[]): Promise<void> {
  await db.query(giveBackStatement, [workerId, uuidArray(ids)]);
}

const giveBackStatement = statement(
  "give back",
  `
update posthorn.queue
set claimed_by = null
where id = any ($2::uuid[])
  and claimed_by = $1::integer
`,
);
