// Lists the partitions of history.
import type { Uuid } from "../../../model.ts";
import type { Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";

export type HistoryTable = "deliveries" | "attempts" | "events";

export interface Partition {
  readonly parent: HistoryTable;
  readonly name: string;
  readonly lowerBound: Uuid;
  /** Exclusive. */
  readonly upperBound: Uuid;
  /** It holds only what outlived the retention period. */
  readonly isKept: boolean;
}

/** Excludes the default partitions. */
export async function historyPartitions(
  db: Queryable,
): Promise<{ readonly nowMs: number; readonly partitions: readonly Partition[] }> {
  const [row] = await db.query<{ nowMs: number; partitions: Partition[] | null }>(listStatement);
  return { nowMs: row?.nowMs ?? 0, partitions: row?.partitions ?? [] };
}

const listStatement = statement(
  "history partitions",
  `
select
  posthorn.epoch_ms(posthorn.now()) as "nowMs",
  (
    select json_agg(json_build_object(
      'parent', p.parent, 'name', p.name, 'lowerBound', p.lower_bound, 'upperBound', p.upper_bound, 'isKept', p.is_kept))
    from posthorn.history_partitions() p
  ) as partitions
`,
);
