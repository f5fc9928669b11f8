// Reads why lanes are paused.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isGranted } from "../handshakes/handshake-column.ts";

/** The tenant is inactive, the endpoint is disabled, or it has not agreed to receive webhooks. */
export type Hold = "tenant" | "endpoint" | "handshake";

/** Returns only endpoints that are held. */
export async function holdsOf(db: Queryable, endpointIds: readonly Uuid[]): Promise<Map<Uuid, Hold>> {
  const rows = await db.query<{ id: Uuid; hold: Hold }>(holdsStatement, [uuidArray(endpointIds)]);
  return new Map(rows.map(({ id, hold }) => [id, hold]));
}

const holdsStatement = statement(
  "holds of endpoints",
  `
select
  ep.id,
  case when not t.is_active then 'tenant' when not ep.is_active then 'endpoint' else 'handshake' end as hold
from posthorn.endpoints ep
join posthorn.tenants t on t.id = ep.tenant
where ep.id = any ($1::uuid[])
  and not (t.is_active and ep.is_active and ${isGranted})
`,
);
