// Writes one notification per channel, in the transaction that disables an endpoint. If one was sent within the last
// hour, the next is sent when the hour is over, if the endpoint is still disabled then.
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function writeNotifications(
  tx: Queryable,
  endpointId: Uuid,
  channels: readonly string[],
): Promise<void> {
  await tx.query(writeStatement, [endpointId, textArray(channels)]);
}

// Unsent notifications of earlier disablings are replaced.
const writeStatement = statement(
  "write notifications",
  `
with outdated as (
  delete from posthorn.notifications n
  where n.endpoint_id = $1::uuid
    and n.channel = any ($2::text[])
    and n.attempts = 0
    and n.next_at is not null
)
insert into posthorn.notifications (channel, endpoint_id, disabled_at, next_at)
select
  wanted.channel,
  ep.id,
  ep.disabled_at,
  greatest(posthorn.now(), (
    select max(n.sent_at) + interval '1 hour'
    from posthorn.notifications n
    where n.endpoint_id = ep.id
      and n.channel = wanted.channel
  ))
from posthorn.endpoints ep
cross join unnest($2::text[]) as wanted (channel)
where ep.id = $1::uuid
`,
);
