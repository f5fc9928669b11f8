// Reads the sessions of requests and the links of codes.
import { textArray } from "../../binary-array.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type SessionRow, sessionColumns } from "./session-row.ts";

/** Returns sessions that have not expired, open or not. */
export async function knownSessions(db: Queryable, ids: readonly string[]): Promise<SessionRow[]> {
  return await db.query<SessionRow>(knownStatement, [textArray(ids)]);
}

const knownStatement = statement(
  "known sessions",
  `
select ${sessionColumns}
from posthorn.sessions s
where s.id = any ($1::text[])
  and s.expires_at > posthorn.now()
`,
);
