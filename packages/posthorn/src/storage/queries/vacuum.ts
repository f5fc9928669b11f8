// Statistics and vacuum of the tables whose rows change constantly.
import type { Queryable } from "../database.ts";
import { rows } from "../query.ts";
import { statement } from "../sql.ts";

export type BusyTable = "queue" | "outbox" | "lanes";

export interface TableState {
  readonly table: BusyTable;
  readonly pages: number;
  readonly deadRows: number;
  readonly liveRows: number;
  /** Only a table's owner may vacuum it; for others the server only warns. */
  readonly mayVacuum: boolean;
}

export const tableStates = rows<TableState>("table states")`
select
  c.relname as table,
  (pg_relation_size(c.oid) / 8192)::integer as pages,
  pg_stat_get_dead_tuples(c.oid) as "deadRows",
  pg_stat_get_live_tuples(c.oid) as "liveRows",
  pg_has_role(c.relowner, 'usage') as "mayVacuum"
from pg_class c
where c.oid in ('posthorn.queue'::regclass, 'posthorn.outbox'::regclass, 'posthorn.lanes'::regclass)
`;

/** Runs outside any transaction, without a timeout: a second at a million rows. Skips a table that autovacuum has locked. */
export async function vacuum(db: Queryable, table: BusyTable): Promise<void> {
  const named = statement({ name: `vacuum ${table}`, hasNoTimeout: true });
  await db.query(named`vacuum (analyze, skip_locked, parallel 0) posthorn.${table}`);
}

export async function analyze(db: Queryable, table: BusyTable): Promise<void> {
  await db.query(statement(`analyze ${table}`)`analyze posthorn.${table}`);
}
