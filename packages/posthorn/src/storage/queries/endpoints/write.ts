// Writes an endpoint's settings. The caller holds the tenant's row, then the endpoint's.
import type {
  AuthorizationType,
  BatchSettings,
  FifoOnDead,
  FilterInput,
  HandshakeSettings,
  Ordering,
  PayloadFormat,
  RetryOn,
  RetryPolicy,
  SignatureSettings,
  Uuid,
} from "../../../model.ts";
import { textArray, uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type EndpointRow, endpointColumns } from "./endpoint-row.ts";

/** Null means "as the deployment is set". */
export interface EndpointSettings {
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly string[];
  readonly isActive: boolean;
  readonly format: PayloadFormat | null;
  readonly signature: Partial<SignatureSettings> | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly timeoutMs: number | null;
  readonly maxInFlight: number | null;
  readonly rateLimit: number | null;
  readonly retryPolicy: RetryPolicy | null;
  readonly retryOn: RetryOn | null;
  readonly ordering: Ordering | null;
  readonly fifoOnDead: FifoOnDead | null;
  readonly filter: FilterInput | null;
  readonly batch: Partial<BatchSettings> | null;
  /** Where its token goes; the token itself is kept with the secrets. */
  readonly authorization: AuthorizationType | null;
  /** Kept in a table of its own. */
  readonly handshake: HandshakeSettings | null;
}

function settingsValues(settings: EndpointSettings): unknown[] {
  return [
    settings.url,
    settings.description,
    textArray(settings.events),
    settings.isActive,
    settings.format,
    json(settings.signature),
    json(settings.headers),
    settings.timeoutMs,
    settings.maxInFlight,
    settings.rateLimit,
    json(settings.retryPolicy),
    settings.retryOn,
    settings.ordering,
    settings.fifoOnDead,
    json(settings.filter),
    json(settings.batch),
    settings.authorization,
  ];
}

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** With its lane. */
export async function insertEndpoint(
  tx: Queryable,
  id: Uuid,
  tenant: string,
  settings: EndpointSettings,
): Promise<EndpointRow> {
  const [row] = await tx.query<EndpointRow>(insertStatement, [id, tenant, ...settingsValues(settings)]);
  await tx.query(insertLaneStatement, [id]);
  return row as EndpointRow;
}

const insertStatement = statement(
  "insert endpoint",
  `
insert into posthorn.endpoints as ep (
  id, tenant, url, description, events, is_active, format, signature, headers, timeout_ms, max_in_flight,
  rate_limit, retry_policy, retry_on, ordering, fifo_on_dead, filter, batch, authorization_type,
  disabled_reason, disabled_at
)
values (
  $1::uuid, $2::text, $3::text, $4::text, $5::text[], $6::boolean, $7::text, $8::jsonb, $9::jsonb, $10::integer,
  $11::integer, $12::integer, $13::jsonb, $14::text, $15::text, $16::text, $17::jsonb, $18::jsonb, $19::text,
  case when not $6::boolean then 'manual' end,
  case when not $6::boolean then posthorn.now() end
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
  const [row] = await tx.query<EndpointRow>(updateStatement, [id, ...settingsValues(settings)]);
  return row as EndpointRow;
}

// Why it is disabled stays as it was said first.
const updateStatement = statement(
  "update endpoint",
  `
update posthorn.endpoints ep
set url = $2::text,
  description = $3::text,
  events = $4::text[],
  is_active = $5::boolean,
  format = $6::text,
  signature = $7::jsonb,
  headers = $8::jsonb,
  timeout_ms = $9::integer,
  max_in_flight = $10::integer,
  rate_limit = $11::integer,
  retry_policy = $12::jsonb,
  retry_on = $13::text,
  ordering = $14::text,
  fifo_on_dead = $15::text,
  filter = $16::jsonb,
  batch = $17::jsonb,
  authorization_type = $18::text,
  disabled_reason = case when not $5::boolean then coalesce(ep.disabled_reason, 'manual') end,
  disabled_at = case when not $5::boolean then coalesce(ep.disabled_at, posthorn.now()) end,
  version = ep.version + 1,
  updated_at = posthorn.now()
where ep.id = $1::uuid
returning ${endpointColumns}
`,
);

/** Null when it was not active any more, or leads elsewhere than to `url`, if one is given. */
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

/** The row stays as a name for its history; its secrets and headers do not. */
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

/** The secrets changed: whoever holds the old ones reads them again. */
export async function raiseEndpointVersion(tx: Queryable, id: Uuid): Promise<void> {
  await tx.query(raiseStatement, [id]);
}

const raiseStatement = statement(
  "raise endpoint version",
  `
update posthorn.endpoints
set version = version + 1,
  updated_at = posthorn.now()
where id = $1::uuid
`,
);
