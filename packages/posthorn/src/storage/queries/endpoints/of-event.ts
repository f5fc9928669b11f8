// All endpoints a tenant has or had, with what says whether they get an event, in one snapshot with whether the event
// still waits for its fan-out.
import type { FilterInput, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export interface EventEndpointRow {
  readonly id: Uuid;
  readonly events: readonly string[];
  readonly filter: FilterInput | null;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly deletedMs: number | null;
  readonly tenantIsActive: boolean;
  readonly eventWaits: boolean;
  readonly eventIsTest: boolean;
}

export async function endpointsOfEvent(
  db: Queryable,
  tenant: string,
  eventId: Uuid,
): Promise<EventEndpointRow[]> {
  return await db.query<EventEndpointRow>(ofEventStatement, [tenant, eventId]);
}

const ofEventStatement = statement(
  "endpoints of event",
  `
select
  ep.id,
  to_json(ep.events) as events,
  ep.filter,
  posthorn.epoch_ms(ep.created_at) as "createdMs",
  posthorn.epoch_ms(ep.updated_at) as "updatedMs",
  posthorn.epoch_ms(ep.deleted_at) as "deletedMs",
  t.is_active as "tenantIsActive",
  exists (select from posthorn.outbox o where o.event_id = $2::uuid) as "eventWaits",
  exists (select from posthorn.events e where e.id = $2::uuid and e.is_test) as "eventIsTest"
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where ep.tenant = $1::text
order by ep.id
`,
);
