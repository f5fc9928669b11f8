// Puts down, in the transaction that disables an endpoint, that it is to be told of over these channels.
import type { Uuid } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function writeNotices(
  tx: Queryable,
  endpointId: Uuid,
  channels: readonly string[],
): Promise<void> {
  await tx.query(writeStatement, [endpointId, textArray(channels)]);
}

const writeStatement = statement(
  "write notices",
  `
insert into posthorn.notices (channel, endpoint_id, disabled_at)
select wanted.channel, ep.id, ep.disabled_at
from posthorn.endpoints ep
cross join unnest($2::text[]) as wanted (channel)
where ep.id = $1::uuid
`,
);
