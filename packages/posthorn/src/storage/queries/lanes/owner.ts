import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function ownerOfLane(db: Queryable, endpointId: Uuid): Promise<number | null> {
  const [row] = await db.query<{ owner: number | null }>(ownerStatement, [endpointId]);
  return row?.owner ?? null;
}

const ownerStatement = statement(
  "owner of lane",
  `
select l.owner
from posthorn.lanes l
where l.endpoint_id = $1::uuid
`,
);
