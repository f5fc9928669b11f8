// Reads replays, newest first.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { type ReplayRow, replayColumns } from "./replay-row.ts";

/** Does not find another tenant's replay if a tenant is given. */
export async function findReplay(db: Queryable, id: Uuid, tenant: string | null): Promise<ReplayRow | null> {
  const [row] = await db.query<ReplayRow>(findStatement, [id, tenant]);
  return row ?? null;
}

const findStatement = statement(
  "find replay",
  `
select ${replayColumns}
from posthorn.replays r
where r.id = $1::uuid
  and ($2::text is null or r.tenant = $2::text)
`,
);

export interface ReplayFilter {
  readonly before: Uuid;
  readonly limit: number;
  readonly tenant: string | null;
  readonly state: string | null;
}

export async function listReplays(db: Queryable, filter: ReplayFilter): Promise<ReplayRow[]> {
  return await db.query<ReplayRow>(listStatement, [filter.before, filter.limit, filter.tenant, filter.state]);
}

const listStatement = statement(
  "list replays",
  `
select ${replayColumns}
from posthorn.replays r
where r.id < $1::uuid
  and ($3::text is null or r.tenant = $3::text)
  and ($4::text is null or r.state = $4::text)
order by r.id desc
limit $2::integer
`,
);

export async function runningReplays(db: Queryable): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(runningStatement);
  return rows.map(({ id }) => id);
}

const runningStatement = statement(
  "running replays",
  `
select r.id
from posthorn.replays r
where r.state = 'running'
order by r.id
`,
);
