// Statistics and vacuum of the tables whose rows change constantly.
import type { Queryable } from "../../database.ts";
import { type Statement, statement } from "../../sql.ts";

export const busyTables = ["queue", "outbox", "lanes"] as const;
export type BusyTable = (typeof busyTables)[number];

export interface TableState {
  readonly table: BusyTable;
  readonly pages: number;
  readonly deadRows: number;
  readonly liveRows: number;
  /** Only a table's owner may vacuum it; for others the server only warns. */
  readonly mayVacuum: boolean;
}

export async function tableStates(db: Queryable): Promise<TableState[]> {
  return await db.query<TableState>(statesStatement);
}

const statesStatement = statement(
  "table states",
  `
select
  c.relname as table,
  (pg_relation_size(c.oid) / 8192)::integer as pages,
  pg_stat_get_dead_tuples(c.oid) as "deadRows",
  pg_stat_get_live_tuples(c.oid) as "liveRows",
  pg_has_role(c.relowner, 'usage') as "mayVacuum"
from pg_class c
where c.oid in ('posthorn.queue'::regclass, 'posthorn.outbox'::regclass, 'posthorn.lanes'::regclass)
`,
);

/** Runs outside any transaction, without a timeout: a second at a million rows. */
export async function vacuum(db: Queryable, table: BusyTable): Promise<void> {
  await db.query(vacuumStatements[table]);
}

// Skips a table that autovacuum has locked.
const vacuumStatements = eachTable((table) =>
  statement(`vacuum ${table}`, `vacuum (analyze, skip_locked, parallel 0) posthorn.${table}`, {
    hasNoTimeout: true,
  }),
);

export async function analyze(db: Queryable, table: BusyTable): Promise<void> {
  await db.query(analyzeStatements[table]);
}

const analyzeStatements = eachTable((table) => statement(`analyze ${table}`, `analyze posthorn.${table}`));

function eachTable(make: (table: BusyTable) => Statement): Readonly<Record<BusyTable, Statement>> {
  return { queue: make("queue"), outbox: make("outbox"), lanes: make("lanes") };
}
