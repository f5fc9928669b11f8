// Reads endpoints of a tenant or of all tenants. Deleted ones are excluded.
import type { FilterInput, Grant, RecordedHealth, Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { column, fields, firstRow, mapOf, rows, value } from "../../query.ts";
import { grantColumn, handshakeColumn } from "../handshakes.ts";
import { healthColumn } from "../health/record.ts";
import type { Filter, IdPage } from "../page.ts";
import { type EndpointSettings, settingColumns } from "./setting-columns.ts";

export interface EndpointRow extends EndpointSettings {
  readonly id: Uuid;
  readonly tenant: string;
  readonly disabledReason: string | null;
  readonly disabledMs: number | null;
  readonly websubTopic: string | null;
  /** Set for subscriptions only: endpoints that their receivers registered, for as long as the lease lasts. */
  readonly leaseEndsMs: number | null;
  /** Result of the handshake. */
  readonly grant: Grant | null;
  readonly version: number;
  readonly health: RecordedHealth | null;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Columns of `posthorn.endpoints ep`. */
export const endpointColumns = `ep.id, ep.tenant, ${settingColumns},
  ep.disabled_reason as "disabledReason", posthorn.epoch_ms(ep.disabled_at) as "disabledMs",
  ep.websub_topic as "websubTopic", posthorn.epoch_ms(ep.lease_ends_at) as "leaseEndsMs", ep.version,
  posthorn.epoch_ms(ep.created_at) as "createdMs", posthorn.epoch_ms(ep.updated_at) as "updatedMs",
  ${healthColumn("ep.id")} as health, ${handshakeColumn} as handshake, ${grantColumn} as "grant"`;

const findText = `
select ${endpointColumns}
from posthorn.endpoints ep
where ep.id = $2::uuid
  and ep.tenant = $1::text
  and ep.deleted_at is null
`;

export const findEndpoint = firstRow<EndpointRow, [tenant: string, id: Uuid]>("find endpoint")`${findText}`;

/** Locked after its tenant. */
export const lockEndpoint = firstRow<EndpointRow, [tenant: string, id: Uuid]>(
  "lock endpoint",
)`${findText}for no key update`;

/** `failing`: active, with failures since the last success. `websub`: a WebSub subscription. */
export type EndpointState = "active" | "disabled" | "failing" | "websub";

/** `search` is an id, or a part of the name or of the URL in any letter case. */
export type EndpointFilter = IdPage & Filter<"tenant" | "search"> & { readonly state: EndpointState | null };

export function listEndpoints(db: Queryable, filter: EndpointFilter): Promise<EndpointRow[]> {
  return lists[filter.state ?? "any"](db, filter);
}

/** A query may have credentials, which a key that cannot read them must not find by searching. */
const urlWithoutQuery = "split_part(ep.url, '?', 1)";

/** One statement per state, planned for its values, so that each uses its own index. */
const listOf = (name: string, condition: string) => rows<EndpointRow, [EndpointFilter]>(
  { name: `list ${name}`, replansEachTime: true },
  fields("before", "limit", "tenant", "search"),
)`
select ${endpointColumns}
from posthorn.endpoints ep
where ep.deleted_at is null
  and ep.id < $1::uuid
  and ($3::text is null or ep.tenant = $3::text)
  and (
    $4::text is null
    or 'ep_' || ep.id = $4::text
    or position(lower($4::text) in lower(ep.name)) > 0
    or position(lower($4::text) in lower(${urlWithoutQuery})) > 0
  )
  ${condition}
order by ep.id desc
limit $2::integer
`;

const lists = {
  any: listOf("endpoints", ""),
  active: listOf("active endpoints", "and ep.is_active"),
  disabled: listOf("disabled endpoints", "and not ep.is_active"),
  websub: listOf("subscriptions", "and ep.websub_topic is not null"),
  // healthy endpoints have no row in endpoint_health
  failing: listOf(
    "failing endpoints",
    `and ep.is_active
  and ep.id in (
    select h.endpoint_id
    from posthorn.endpoint_health h
    where h.consecutive_failures > 0
  )`,
  ),
};

export interface EndpointLabel {
  readonly name: string | null;
  /** Without its query. */
  readonly url: string;
}

/** Includes deleted endpoints, which deliveries refer to. */
export const labelsOfEndpoints = mapOf<Uuid, EndpointLabel, [ids: readonly Uuid[]]>("labels of endpoints")`
select ep.id, json_build_object('name', ep.name, 'url', ${urlWithoutQuery})
from posthorn.endpoints ep
where ep.id = any($1::uuid[])
`;

/** Returns the URLs of those of the endpoints that the tenant has. */
export const urlsOfEndpoints = mapOf<Uuid, string, [tenant: string, ids: readonly Uuid[]]>(
  "urls of endpoints",
)`
select ep.id, ep.url
from posthorn.endpoints ep
where ep.id = any($2::uuid[])
  and ep.tenant = $1::text
  and ep.deleted_at is null
`;

/** Excludes subscriptions, which have their own limits. */
export const countEndpoints = value<number, [tenant: string]>("count endpoints")`
select count(*)::integer as count
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ep.lease_ends_at is null
  and ep.deleted_at is null
`;

/**
 * Returns the ids of a tenant's endpoints, or the one if it is the tenant's. Includes deleted ones, which history refers
 * to.
 */
export const endpointIdsOf = column<Uuid, [tenant: string, endpointId?: Uuid | null]>(
  "endpoint ids of tenant",
)`
select ep.id
from posthorn.endpoints ep
where ep.tenant = $1::text
  and ($2::uuid is null or ep.id = $2::uuid)
order by ep.id
`;

export const tenantOfEndpoint = value<string | null, [id: Uuid]>("tenant of endpoint")`
select ep.tenant
from posthorn.endpoints ep
where ep.id = $1::uuid
`;

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
  readonly eventIsRejected: boolean;
  readonly eventIsTest: boolean;
  /** Delivery was off and dropped events when it was published. */
  readonly eventWasDropped: boolean;
}

/**
 * Reads all endpoints a tenant has or had (subscriptions only for the event's topic) with what decides whether
 * they receive an event, in one snapshot with whether the event still waits for fan-out.
 */
export const endpointsOfEvent = rows<EventEndpointRow, [tenant: string, eventId: Uuid]>("endpoints of event")`
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
  exists (select from posthorn.rejected_events r where r.event_id = $2::uuid) as "eventIsRejected",
  exists (select from posthorn.events e where e.id = $2::uuid and e.is_test) as "eventIsTest",
  exists (
    select
    from (
      select m.*, lag(m.since) over by_version is null as "isFirst", lead(m.since) over by_version as "endsAt"
      from posthorn.delivery_modes m
      window by_version as (order by m.version)
    ) m
    where (m.mode = 'drop' or (m.mode is null and m.dropped > 0))
      -- the first row of a start-up setting is written after the events that it counts
      and ($2::uuid >= posthorn.lowest_uuid_at(m.since) or (m."isFirst" and m.mode is null))
      -- processes follow within a second
      and (m."endsAt" is null or $2::uuid < posthorn.lowest_uuid_at(m."endsAt" + interval '1 second'))
  ) as "eventWasDropped"
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where ep.tenant = $1::text
  and (
    ep.lease_ends_at is null
    or ep.events @> array(select e.type from posthorn.events e where e.id = $2::uuid)
  )
order by ep.id
`;
