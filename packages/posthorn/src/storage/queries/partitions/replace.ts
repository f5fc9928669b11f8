// Replaces partitions by one that holds only what must be kept: filled in steps without locks, and attached in a short
// transaction. The SQL is in 0004-history-and-retention.sql.
import type { Uuid } from "../../../model.ts";
import type { Database, Queryable } from "../../database.ts";
import { statement } from "../../sql.ts";
import { limitLockWaits } from "../migrations/bookkeeping.ts";
import type { HistoryTable } from "./list.ts";

export interface Replacement {
  readonly parent: HistoryTable;
  /** Name of the replacing table. */
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

/** Returns the number of copied rows; 0 if none was missing. */
export async function copyKept(db: Queryable, replacement: Replacement, most: number): Promise<number> {
  const [row] = await db.query<{ copied: number }>(copyStatement, [...parametersOf(replacement), most]);
  return row?.copied ?? 0;
}

// reads all dead deliveries of a large day once
const copyStatement = statement(
  "copy kept",
  "select posthorn.copy_kept($1::text, $2::text, $3::uuid, $4::uuid, $5::integer) as copied",
  { hasNoTimeout: true },
);

/**
 * Copies the remaining rows, drops the old partitions and attaches the new one. Throws 55P03 if it did not get the lock
 * in time and 57014 if it would have held it for too long; nothing has changed then.
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
