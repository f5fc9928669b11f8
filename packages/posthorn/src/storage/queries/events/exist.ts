// Which of these events are committed: asked after a reply was lost, before anything is sent again.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function existingEvents(db: Queryable, ids: readonly Uuid[]): Promise<Set<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(existingStatement, [uuidArray(ids)]);
  return new Set(rows.map((row) => row.id));
}

const existingStatement = statement(
  "existing events",
  `
select e.id
from posthorn.events e
where e.id = any ($1::uuid[])
`,
);
