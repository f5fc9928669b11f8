// Days of history: made ahead, and dropped when the whole day is older than the retention. Dead letters, what is still
// owed, and the payloads and attempts of both stay where they were, in a small partition in the day's place.
import type { Logger } from "../observe/log.ts";
import { type Database, isConflict } from "../storage/database.ts";
import { ensurePartitions } from "../storage/queries/partitions/ensure.ts";
import { historyPartitions } from "../storage/queries/partitions/list.ts";
import { copyKept, type Replacement, stageKept, swapKept } from "../storage/queries/partitions/replace.ts";
import { dayMs, planReplacements } from "./plan-replacements.ts";

export interface PartitionsOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly retentionDays: number;
  /** False when this process stops or no longer leads: asked between steps. */
  readonly mayGoOn: () => boolean;
}

const daysAhead = 3;
/** Deliveries or events copied by one statement. */
const copyStep = 5_000;
/** Measured for a day with 100 dead letters: 11 ms; with 10,000: 33 ms; with 100,000: 190 ms. */
const holdAtMostMs = 2_000;

/**
 * A statement that waits for a lock on a whole table keeps everybody waiting behind it. There are days of time for the
 * coming partitions and no hurry with the old ones, so all of it gives way and comes again in a minute.
 */
const lockTimeoutMs = 100;

/** Partitions of the coming days first: they are needed whatever becomes of the old ones. */
export async function maintainPartitions(options: PartitionsOptions): Promise<void> {
  const { db, retentionDays, mayGoOn } = options;
  await unlessInUse(options, "partitions of the coming days could not be made", {}, () =>
    ensurePartitions(db, daysAhead, lockTimeoutMs),
  );
  const { nowMs, partitions } = await historyPartitions(db);
  for (const replacement of planReplacements(partitions, nowMs - retentionDays * dayMs)) {
    const isDone =
      mayGoOn() &&
      (await unlessInUse(options, "old history could not be dropped", { table: replacement.parent }, () =>
        replace(options, replacement),
      ));
    if (!isDone) return;
  }
}

async function replace({ db, logger, mayGoOn }: PartitionsOptions, replacement: Replacement): Promise<void> {
  await stageKept(db, replacement, lockTimeoutMs);
  while (mayGoOn() && (await copyKept(db, replacement, copyStep)) > 0);
  // what is not copied by now would be copied under the lock
  if (!mayGoOn()) return;
  const dropped = await swapKept(db, replacement, { lockTimeoutMs, holdAtMostMs });
  const { parent: table, target: kept } = replacement;
  if (dropped > 0) logger.info("old history was dropped", { table, partitions: dropped, kept });
}

/** False when somebody is in the way: a lock was not to be had, or would have been held for too long. */
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
    logger.warn(`${what}, because the table is in use; it is tried again in a minute`, {
      ...fields,
      error: (error as Error).message,
    });
    return false;
  }
}

const statementTimedOut = "57014";
