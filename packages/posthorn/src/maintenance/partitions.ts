// Creates partitions ahead of time and drops days that are older than the retention period. Dead letters, unfinished
// deliveries, and the events and attempts of both are kept in a small partition in place of the day.
import { isConflict } from "../storage/database.ts";
import {
  copyKept,
  ensurePartitions,
  historyPartitions,
  type Replacement,
  stageKept,
  swapKept,
} from "../storage/queries/partitions.ts";
import { dayMs, planReplacements } from "./plan-replacements.ts";
import type { PruneOptions } from "./prune.ts";

type PartitionsOptions = Pick<PruneOptions, "db" | "logger" | "retentionDays" | "mayContinue">;

const daysAhead = 3;
/** Number of deliveries or events copied by one statement. */
const copyStep = 5_000;
/** Measured for a day with 100 dead letters: 11 ms; with 10,000: 33 ms; with 100,000: 190 ms. */
const holdAtMostMs = 2_000;

/**
 * A statement that waits for a lock on a whole table blocks all later statements. Nothing here is urgent, so it gives up
 * at once and is retried in a minute.
 */
const lockTimeoutMs = 100;

/** New partitions first: they are needed whether or not old ones can be dropped. */
export async function maintainPartitions(options: PartitionsOptions): Promise<void> {
  const { db, retentionDays, mayContinue } = options;
  await unlessInUse(options, "could not create partitions", {}, () =>
    ensurePartitions(db, daysAhead, lockTimeoutMs),
  );
  const { nowMs, partitions } = await historyPartitions(db);
  for (const replacement of planReplacements(partitions, nowMs - retentionDays * dayMs)) {
    const isDone =
      mayContinue() &&
      (await unlessInUse(options, "could not drop old history", { table: replacement.parent }, () =>
        replace(options, replacement),
      ));
    if (!isDone) return;
  }
}

async function replace(
  { db, logger, mayContinue }: PartitionsOptions,
  replacement: Replacement,
): Promise<void> {
  await stageKept(db, replacement, lockTimeoutMs);
  while (mayContinue() && (await copyKept(db, replacement, copyStep)) > 0);
  // rows that are not copied yet would be copied under the lock
  if (!mayContinue()) return;
  const dropped = await swapKept(db, replacement, { lockTimeoutMs, holdAtMostMs });
  const { parent: table, target: kept } = replacement;
  if (dropped > 0) logger.info("dropped old history", { table, partitions: dropped, kept });
}

/** Returns false if a lock was not available in time or would have been held for too long. */
async function unlessInUse(
  { logger }: PartitionsOptions,
  what: string,
  fields: Record<string, unknown>,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isConflict(error) && (error as { code?: string }).code !== statementTimedOut) throw error;
    logger.warn(`${what} because the table is in use; it will be retried in a minute`, {
      ...fields,
      error: (error as Error).message,
    });
    return false;
  }
}

const statementTimedOut = "57014";
