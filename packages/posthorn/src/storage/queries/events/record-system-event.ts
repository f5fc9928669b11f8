// Records an event of Posthorn's own, once per tenant that is to have it, in the transaction of what it tells of. From
// the outbox it goes the way of every event that was published in a transaction.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface SystemEvent {
  readonly tenants: readonly string[];
  readonly type: string;
  readonly subject: string;
  readonly payload: Uint8Array;
}

export async function recordSystemEvent(tx: Queryable, event: SystemEvent): Promise<void> {
  await tx.query(recordStatement, [textArray(event.tenants), event.type, event.subject, event.payload]);
}

const recordStatement = statement(
  "record system event",
  `
with recorded as (
  insert into posthorn.events (id, tenant, type, api_version, subject, payload)
  select posthorn.uuidv7(posthorn.now()), wanted.tenant, $2::text, '1', $3::text, $4::bytea
  from unnest($1::text[]) as wanted (tenant)
  returning id
)
insert into posthorn.outbox (event_id)
select recorded.id
from recorded
`,
);
