// Reads endpoints as the sending side needs them. A tenant's version and its endpoints are read in one snapshot; a
// change between two reads would be cached permanently.
import type { Uuid } from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { firstRow, rows } from "../../query.ts";
import { statement } from "../../sql.ts";
import { type EndpointRow, endpointColumns } from "./read.ts";

export interface SecretRow {
  readonly id: Uuid;
  readonly keyId: string;
  readonly ciphertextHex: string;
  readonly expiresMs: number | null;
  /** The only scheme that uses it, or `authorization`; null: every scheme without its own secret. */
  readonly usedFor: string | null;
}

export interface TargetRow extends EndpointRow {
  readonly tenantIsActive: boolean;
  readonly secrets: readonly SecretRow[] | null;
}

/** Secrets of `posthorn.endpoints ep` that match, newest first. */
const secretsWhere = (condition: string): string => `(
    select json_agg(
      json_build_object(
        'id', s.id,
        'keyId', s.key_id,
        'ciphertextHex', encode(s.ciphertext, 'hex'),
        'expiresMs', posthorn.epoch_ms(s.expires_at),
        'usedFor', s.used_for
      )
      order by (s.expires_at is null) desc, s.created_at desc, s.id desc
    )
    from posthorn.endpoint_secrets s
    where s.endpoint_id = ep.id
      and ${condition}
  ) as secrets`;

/** Valid secrets. */
const secretsColumn = secretsWhere("(s.expires_at is null or s.expires_at > posthorn.now())");

export type TenantTargetRow = { readonly asked: string; readonly routingVersion: number | null } & (
  | { readonly [column in keyof TargetRow]: TargetRow[column] }
  | { readonly id: null; readonly tenantIsActive: boolean | null }
);

export const targetsOfTenants = rows<TenantTargetRow, [tenants: readonly string[]]>(
  "targets of tenants",
  (tenants) => [textArray(tenants)],
)`
select
  asked.tenant as asked,
  t.routing_version as "routingVersion",
  t.is_active as "tenantIsActive",
  ${endpointColumns},
  ${secretsColumn}
from unnest($1::text[]) as asked (tenant)
left join posthorn.tenants t on t.id = asked.tenant
left join posthorn.endpoints ep on ep.tenant = t.id and ep.deleted_at is null
order by asked.tenant, ep.id
`;

export interface TargetVersions {
  /** 0 for an unknown tenant. */
  readonly routingVersion: number;
  readonly isActive: boolean;
  readonly ids: readonly Uuid[];
  /** In the same order; incremented by every change. */
  readonly versions: readonly number[];
}

/** 10,000 take 40 ms on a busy machine, where reading the targets took 800. */
export async function targetVersions(db: Queryable, tenant: string): Promise<TargetVersions> {
  const [row] = await db.query<TargetVersions>(versionsStatement, [tenant]);
  return row ?? { routingVersion: 0, isActive: true, ids: [], versions: [] };
}

const versionsStatement = statement("target versions")`
select
  t.routing_version as "routingVersion",
  t.is_active as "isActive",
  coalesce(of_tenant.ids, '[]') as ids,
  coalesce(of_tenant.versions, '[]') as versions
from posthorn.tenants t
left join lateral (
  select json_agg(ep.id order by ep.id) as ids, json_agg(ep.version order by ep.id) as versions
  from posthorn.endpoints ep
  where ep.tenant = t.id
    and ep.deleted_at is null
) of_tenant on true
where t.id = $1::text
`;

const targetsText = (secrets: string, condition: string): string => `
select
  t.is_active as "tenantIsActive",
  ${endpointColumns},
  ${secrets}
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where ${condition}
  and ep.deleted_at is null
`;

export const targetsByIds = rows<TargetRow, [endpointIds: readonly Uuid[]]>(
  "targets by ids",
  (endpointIds) => [uuidArray(endpointIds)],
)`${targetsText(secretsColumn, "ep.id = any ($1::uuid[])")}`;

/** Reads a target with the secrets that were valid at that time, if they still exist: rotations delete expired ones. */
// one second of tolerance, because the time is that of a worker
export const targetAt = firstRow<TargetRow, [endpointId: Uuid, at: Date]>("target at a time")`${targetsText(
  secretsWhere(`s.created_at <= $2::timestamptz + interval '1 second'
      and (s.expires_at is null or s.expires_at > $2::timestamptz)`),
  "ep.id = $1::uuid",
)}`;

/** Reads one secret per encryption key in use. */
export const newestSecretPerKey = rows<SecretRow & { readonly endpointId: Uuid }>("newest secret per key")`
select distinct on (s.key_id)
  s.id,
  s.endpoint_id as "endpointId",
  s.key_id as "keyId",
  encode(s.ciphertext, 'hex') as "ciphertextHex",
  posthorn.epoch_ms(s.expires_at) as "expiresMs",
  s.used_for as "usedFor"
from posthorn.endpoint_secrets s
where s.expires_at is null
  or s.expires_at > posthorn.now()
order by s.key_id, s.id desc
`;
