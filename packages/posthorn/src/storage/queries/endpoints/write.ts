// Writes endpoints. The caller holds the tenant's row, then the endpoint's.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EndpointRow, endpointColumns } from "./endpoint-row.ts";
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
  const [row] = await tx.query<EndpointRow>(insertStatement, [id, tenant, ...settingValues(settings)]);
  await tx.query(insertLaneStatement, [id]);
  return row as EndpointRow;
}

const insertStatement = statement(
  "insert endpoint",
  `
insert into posthorn.endpoints as ep (id, tenant, ${settingColumnNames}, disabled_reason, disabled_at)
values (
  $1::uuid, $2::text, ${settingParameters(3)},
  case when not ${settingParameter("isActive", 3)} then 'manual' end,
  case when not ${settingParameter("isActive", 3)} then posthorn.now() end
)
returning ${endpointColumns}
`,
);

const insertLaneStatement = statement(
  "insert lane",
  `
insert into posthorn.lanes (endpoint_id)
values ($1::uuid)
`,
);

export async function updateEndpoint(
  tx: Queryable,
  id: Uuid,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  const [row] = await tx.query<EndpointRow>(updateStatement, [id, ...settingValues(settings)]);
  return row as EndpointRow;
}

// The first reason for disabling is kept.
const updateStatement = statement(
  "update endpoint",
  `
update posthorn.endpoints ep
set ${settingAssignments(2)},
  disabled_reason = case when not ${settingParameter("isActive", 2)} then coalesce(ep.disabled_reason, 'manual') end,
  disabled_at = case when not ${settingParameter("isActive", 2)} then coalesce(ep.disabled_at, posthorn.now()) end,
  version = ep.version + 1,
  updated_at = posthorn.now()
where ep.id = $1::uuid
returning ${endpointColumns}
`,
);

/** Returns null if it was not active, or no longer has the URL `url`, if given. */
export async function disableEndpoint(
  tx: Queryable,
  id: Uuid,
  reason: string,
  url: string | null,
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(disableStatement, [id, reason, url]);
  return row ?? null;
}

const disableStatement = statement(
  "disable endpoint",
  `
update posthorn.endpoints ep
set is_active = false,
  disabled_reason = $2::text,
  disabled_at = posthorn.now(),
  version = ep.version + 1,
  updated_at = posthorn.now()
where ep.id = $1::uuid
  and ep.is_active
  and ep.deleted_at is null
  and ($3::text is null or ep.url = $3::text)
returning ${endpointColumns}
`,
);

/** Keeps the row for its history, without secrets and headers. */
export async function markDeleted(tx: Queryable, ids: readonly Uuid[]): Promise<void> {
  await tx.query(markDeletedStatement, [uuidArray(ids)]);
}

const markDeletedStatement = statement(
  "mark endpoints deleted",
  `
update posthorn.endpoints
set is_active = false,
  headers = null,
  deleted_at = posthorn.now(),
  version = version + 1,
  updated_at = posthorn.now()
where id = any ($1::uuid[])
`,
);

/** Makes workers reload the endpoint after its secrets changed. */
export async function incrementEndpointVersion(tx: Queryable, id: Uuid): Promise<void> {
  await tx.query(raiseStatement, [id]);
}

const raiseStatement = statement(
  "increment endpoint version",
  `
update posthorn.endpoints
set version = version + 1,
  updated_at = posthorn.now()
where id = $1::uuid
`,
);
