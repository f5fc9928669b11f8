// Creates, lists and replaces the partitions of history. A partition is replaced by one that holds only what must be
// kept: filled in steps without locks, and attached in a short transaction (0004-history-and-retention.sql).
import type { Uuid } from "../../model.ts";
import type { Database } from "../database.ts";
import { fields, onlyRow, run, value } from "../query.ts";
import { acquireMigrationLock, limitLockWaits } from "./migrations.ts";

/**
 * Creates the partitions of today and the next days, under the migration lock: two processes that create the same table
 * at once would both fail. Returns how many were created. Throws 55P03 if a table stayed locked; a later call is safe.
 */
export async function ensurePartitions(db: Database, daysAhead = 3, lockTimeoutMs = 2_000): Promise<number> {
  return await db.transaction(async (tx) => {
    await acquireMigrationLock(tx, db.schema);
    await limitLockWaits(tx, lockTimeoutMs);
    return await ensure(tx, daysAhead);
  });
}

/** Days are in UTC, whatever the session's time zone. */
export const ensureText = `
select posthorn.ensure_partitions(today.day, today.day + $1::integer) as made
from (select (posthorn.now() at time zone 'UTC')::date as day) today
`;

const ensure = value<number, [daysAhead: number]>({
  name: "ensure partitions",
  hasNoTimeout: true,
})`${ensureText}`;

export type HistoryTable = "deliveries" | "attempt_log" | "events";

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
export const historyPartitions = onlyRow<{
  readonly nowMs: number;
  readonly partitions: readonly Partition[];
}>("history partitions")`
select
  posthorn.epoch_ms(posthorn.now()) as "nowMs",
  coalesce(json_agg(json_build_object(
    'parent', p.parent, 'name', p.name, 'lowerBound', p.lower_bound, 'upperBound', p.upper_bound, 'isKept', p.is_kept
  )), '[]') as partitions
from posthorn.history_partitions() p
`;

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
    await stage(tx, replacement);
  });
}

const parametersOf = fields("parent", "target", "lowerBound", "upperBound");

const stage = run<[Replacement]>(
  "stage kept",
  parametersOf,
)`select posthorn.stage_kept($1::text, $2::text, $3::uuid, $4::uuid)::text`;

/** Returns the number of copied rows; 0 if none was missing. */
// reads all dead deliveries of a large day once
export const copyKept = value<number, [replacement: Replacement, most: number]>(
  { name: "copy kept", hasNoTimeout: true },
  (replacement, most) => [...parametersOf(replacement), most],
)`select posthorn.copy_kept($1::text, $2::text, $3::uuid, $4::uuid, $5::integer) as copied`;

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
    await limitLockWaits(tx, limits.lockTimeoutMs, limits.holdAtMostMs);
    return await swap(tx, replacement);
  });
}

const swap = value<number, [Replacement]>(
  "swap kept",
  parametersOf,
)`select posthorn.swap_kept($1::text, $2::text, $3::uuid, $4::uuid) as dropped`;
