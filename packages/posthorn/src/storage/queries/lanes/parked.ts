// Lists this worker's lanes with parked deliveries. One index lookup per lane.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { hasParked } from "./ready-at.ts";

export async function lanesWithParked(db: Queryable, workerId: number): Promise<Uuid[]> {
  const rows = await db.query<{ endpoint_id: Uuid }>(parkedStatement, [workerId]);
  return rows.map((row) => row.endpoint_id);
}

const parkedStatement = statement(
  "lanes with parked",
  `
select l.endpoint_id
from posthorn.lanes l
where l.owner = $1::integer
  and ${hasParked("l")}
`,
);
