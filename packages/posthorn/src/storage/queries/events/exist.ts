// Reads which events are committed, and their sequences, after a reply was lost.
import type { Uuid } from "../../../model.ts";
import { uuidArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export async function existingEvents(db: Queryable, ids: readonly Uuid[]): Promise<Map<Uuid, number | null>> {
  const rows = await db.query<{ id: Uuid; sequence: number | null }>(existingStatement, [uuidArray(ids)]);
  return new Map(rows.map((row) => [row.id, row.sequence]));
}

const existingStatement = statement(
  "existing events",
  `
select e.id, e.sequence
from posthorn.events e
where e.id = any ($1::uuid[])
`,
);
