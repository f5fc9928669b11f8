// Records a system event for each tenant, in the transaction of the change it reports. It is delivered from the outbox
// like any event.
import { textArray } from "../../binary-array.ts";
import { fields, run } from "../../query.ts";

export interface SystemEvent {
  readonly tenants: readonly string[];
  readonly type: string;
  readonly subject: string;
  readonly payload: Uint8Array;
}

export const recordSystemEvent = run<[event: SystemEvent]>("record system event", (event) => [
  textArray(event.tenants),
  ...fields("type", "subject", "payload")(event),
])`
with numbered as (
  insert into posthorn.subjects as s (tenant, subject, last_sequence)
  select wanted.tenant, $3::text, 1
  from unnest($1::text[]) as wanted (tenant)
  order by wanted.tenant
  on conflict on constraint subjects_pkey do update
  set last_sequence = s.last_sequence + 1
  returning s.tenant, s.last_sequence
),
recorded as (
  insert into posthorn.events (id, tenant, type, api_version, subject, sequence, payload)
  select posthorn.uuidv7(posthorn.now()), n.tenant, $2::text, c.api_version, $3::text, n.last_sequence, $4::bytea
  from numbered n, posthorn.catalogue c
  returning id, tenant, subject, sequence
)
insert into posthorn.outbox (event_id, tenant, subject, sequence)
select recorded.id, recorded.tenant, recorded.subject, recorded.sequence
from recorded
`;
