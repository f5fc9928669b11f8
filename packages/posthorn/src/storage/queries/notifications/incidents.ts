// Takes incidents, which are dead letters and circuits that opened or recovered, to notify people of them.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { rows } from "../../query.ts";

export type IncidentKind = "dead" | "circuit_opened" | "circuit_recovered";

export interface IncidentRow {
  readonly kind: IncidentKind;
  readonly atMs: number;
  /** The reason of a dead letter, or the last error of an opened circuit. */
  readonly reason: string | null;
  readonly deliveryId: Uuid | null;
  readonly eventId: Uuid | null;
  readonly eventType: string | null;
  readonly endpointId: Uuid;
  readonly tenant: string;
  readonly url: string;
  readonly description: string | null;
  /** The given tenant and the endpoint's own, if another endpoint of it subscribed to the system event. */
  readonly tenants: readonly string[];
}

/** Removes the oldest incidents. The caller's transaction records what follows from them. */
export async function takeIncidents(
  tx: Queryable,
  options: {
    readonly types: Readonly<Record<IncidentKind, string>>;
    readonly operatorTenant: string | null;
    readonly limit: number;
  },
): Promise<{ readonly incidents: readonly IncidentRow[]; readonly taken: number }> {
  const { types, operatorTenant, limit } = options;
  const all = await take(tx, Object.keys(types), Object.values(types), operatorTenant, limit);
  return { incidents: all.filter(({ isReported }) => isReported), taken: all.length };
}

// Not reported: deliveries of system events and tests, because a report about a dead report could repeat forever; a batch
// of nothing else; subscriptions of the WebSub hub, whose subscribers are not customers; deleted endpoints.
const take = rows<
  IncidentRow & { readonly isReported: boolean },
  [kinds: readonly string[], types: readonly string[], operatorTenant: string | null, limit: number]
>("take incidents")`
with taken as (
  delete from posthorn.incidents i
  where i.position = any (array(
      select oldest.position
      from posthorn.incidents oldest
      order by oldest.position
      limit $4::integer
      for update skip locked
    ))
  returning i.position, i.kind, i.endpoint_id, i.delivery_id, i.event_id, i.reason, i.at
)
select
  taken.kind,
  posthorn.epoch_ms(taken.at) as "atMs",
  taken.reason,
  taken.delivery_id as "deliveryId",
  taken.event_id as "eventId",
  e.type as "eventType",
  taken.endpoint_id as "endpointId",
  ep.tenant,
  ep.url,
  ep.description,
  array_to_json(array(
    select distinct wanted.tenant
    from unnest(array[ep.tenant, $3::text]) as wanted (tenant)
    where exists (
      select
      from posthorn.endpoints other
      where other.tenant = wanted.tenant
        and other.deleted_at is null
        and other.id <> ep.id
        and other.events && array['*', 'webhook.*', regexp_replace(system.type, '[^.]+$', '*'), system.type]
    )
  )) as tenants,
  coalesce(
    ep.deleted_at is null
      and ep.websub_topic is null
      and (
        taken.kind <> 'dead'
        or e.is_test is null and e.type not like 'webhook.%'
        or e.type = 'webhook.batch' and exists (
          select
          from posthorn.batch_events b
          join posthorn.events member on member.id = b.event_id
          where b.batch_id = e.id
            and member.type not like 'webhook.%'
        )
      ),
    false
  ) as "isReported"
from taken
join unnest($1::text[], $2::text[]) as system (kind, type) on system.kind = taken.kind
left join posthorn.endpoints ep on ep.id = taken.endpoint_id
left join posthorn.events e on e.id = taken.event_id
order by taken.position
`;
