// Writes endpoints. The caller has locked the tenant's row, then the endpoint's.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { firstRow, onlyRow, run } from "../../query.ts";
import { type EndpointRow, endpointColumns } from "./read.ts";
import {
  type EndpointSettings,
  settingAssignments,
  settingColumnNames,
  settingParameter,
  settingParameters,
  settingValues,
} from "./setting-columns.ts";

/** Creates the endpoint and its lane. */
export async function insertEndpoint(
  tx: Queryable,
  id: Uuid,
  tenant: string,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  const row = await insert(tx, id, tenant, settings);
  await insertLane(tx, id);
  return row;
}

const insert = onlyRow<EndpointRow, [id: Uuid, tenant: string, settings: EndpointSettings]>(
  "insert endpoint",
  (id, tenant, settings) => [id, tenant, ...settingValues(settings)],
)`
insert into posthorn.endpoints as ep (id, tenant, ${settingColumnNames}, disabled_reason, disabled_at)
values (
  $1::uuid, $2::text, ${settingParameters(3)},
  case when not ${settingParameter("isActive", 3)} then 'manual' end,
  case when not ${settingParameter("isActive", 3)} then posthorn.now() end
)
returning ${endpointColumns}
`;

export const insertLane = run<[endpointId: Uuid]>("insert lane")`
insert into posthorn.lanes (endpoint_id)
values ($1::uuid)
`;

// The first reason for disabling is kept.
export const updateEndpoint = onlyRow<EndpointRow, [id: Uuid, settings: EndpointSettings]>(
  "update endpoint",
  (id, settings) => [id, ...settingValues(settings)],
)`
update posthorn.endpoints ep
set ${settingAssignments(2)},
  disabled_reason = case when not ${settingParameter("isActive", 2)} then coalesce(ep.disabled_reason, 'manual') end,
  disabled_at = case when not ${settingParameter("isActive", 2)} then coalesce(ep.disabled_at, posthorn.now()) end,
  version = ep.version + 1,
  updated_at = posthorn.now()
where ep.id = $1::uuid
returning ${endpointColumns}
`;

/** Returns null if it was not active. */
export const disableEndpoint = firstRow<EndpointRow, [id: Uuid, reason: string]>("disable endpoint")`
update posthorn.endpoints ep
set is_active = false,
  disabled_reason = $2::text,
  disabled_at = posthorn.now(),
  version = ep.version + 1,
  updated_at = posthorn.now()
where ep.id = $1::uuid
  and ep.is_active
returning ${endpointColumns}
`;

/** Keeps the row for its history, without secrets and headers. */
export const markDeleted = run<[ids: readonly Uuid[]]>("mark endpoints deleted")`
with deleted as (
  delete from posthorn.endpoint_secrets where endpoint_id = any ($1::uuid[])
)
update posthorn.endpoints
set is_active = false,
  headers = null,
  deleted_at = posthorn.now(),
  version = version + 1,
  updated_at = posthorn.now()
where id = any ($1::uuid[])
`;

/** Makes workers reload the endpoint after its secrets changed. */
export const incrementEndpointVersion = run<[id: Uuid]>("increment endpoint version")`
update posthorn.endpoints
set version = version + 1,
  updated_at = posthorn.now()
where id = $1::uuid
`;
