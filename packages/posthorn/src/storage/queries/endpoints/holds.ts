// What keeps anything from being sent to endpoints at all, as the lanes have it.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { isGranted } from "../handshakes/handshake-column.ts";

/** Its tenant is inactive, it is disabled itself, or it was asked whether it wants webhooks and has not agreed. */
export type Hold = "tenant" | "endpoint" | "handshake";

/** Only of those that are held up. */
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
