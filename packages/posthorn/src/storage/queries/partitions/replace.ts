// Replaces partitions by one that holds only what must stay: staged beside them, filled in steps without any lock, and
// put in their place in one short transaction. The SQL is in 0004-history-and-retention.sql.
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { limitLockWaits } from "../migrations/bookkeeping.ts";
import type { HistoryTable } from "./list.ts";

export interface Replacement {
  readonly parent: HistoryTable;
  /** The name of the table that takes the place; it is staged under it too. */
  readonly target: string;
  readonly lowerBound: Uuid;
  readonly upperBound: Uuid;
}

export async function stageKept(
  db: Database,
  replacement: Replacement,
  lockTimeoutMs: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    await limitLockWaits(tx, lockTimeoutMs);
    await tx.query(stageStatement, parametersOf(replacement));
  });
}

const stageStatement = statement(
  "stage kept",
  "select posthorn.stage_kept($1::text, $2::text, $3::uuid, $4::uuid)::text",
);

/** Returns how many rows were copied: 0 when nothing was missing. */
export async function copyKept(db: Queryable, replacement: Replacement, most: number): Promise<number> {
  const [row] = await db.query<{ copied: number }>(copyStatement, [...parametersOf(replacement), most]);
  return row?.copied ?? 0;
}

// Finding the dead of a large day reads it once; nobody waits for that.
const copyStatement = statement(
  "copy kept",
  "select posthorn.copy_kept($1::text, $2::text, $3::uuid, $4::uuid, $5::integer) as copied",
  { hasNoTimeout: true },
);

/**
 * Copies what came meanwhile, drops the old partitions and attaches the new one. Throws 55P03 when a lock was not to be
 * had in time and 57014 when it would have been held for longer: then nothing has happened.
 */
export async function swapKept(
  db: Database,
  replacement: Replacement,
  limits: { readonly lockTimeoutMs: number; readonly holdAtMostMs: number },
): Promise<number> {
  return await db.transaction(async (tx) => {
    await tx.query(limitSwapStatement, [String(limits.lockTimeoutMs), String(limits.holdAtMostMs)]);
    const [row] = await tx.query<{ dropped: number }>(swapStatement, parametersOf(replacement));
    return row?.dropped ?? 0;
  });
}

const limitSwapStatement = statement(
  "limit swap",
  "select set_config('lock_timeout', $1::text, true), set_config('statement_timeout', $2::text, true)",
);

const swapStatement = statement(
  "swap kept",
  "select posthorn.swap_kept($1::text, $2::text, $3::uuid, $4::uuid) as dropped",
);

function parametersOf({ parent, target, lowerBound, upperBound }: Replacement): unknown[] {
  return [parent, target, lowerBound, upperBound];
}
