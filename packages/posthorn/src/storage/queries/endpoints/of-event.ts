// Reads all endpoints a tenant has or had (WebSub subscriptions only for the event's topic) with what decides whether
// they receive an event, in one snapshot with whether the event still waits for fan-out.
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
  /** Null: not a subscription. */
  readonly leaseEndsMs: number | null;
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
  posthorn.epoch_ms(ep.lease_ends_at) as "leaseEndsMs",
  t.is_active as "tenantIsActive",
  exists (select from posthorn.outbox o where o.event_id = $2::uuid) as "eventWaits",
  exists (select from posthorn.events e where e.id = $2::uuid and e.is_test) as "eventIsTest"
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where ep.tenant = $1::text
  and (
    ep.websub_topic is null
    or ep.events @> array(select e.type from posthorn.events e where e.id = $2::uuid)
  )
order by ep.id
`,
);
