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

/** Deliveries or events copied by one statement. */
const copyStep = 5_000;

/** Partitions of the coming days first: they are needed whatever becomes of the old ones. */
export async function tendPartitions(options: PartitionsOptions): Promise<void> {
  const { db, retentionDays, mayGoOn } = options;
  await ensurePartitions(db);
  const { nowMs, partitions } = await historyPartitions(db);
  for (const replacement of planReplacements(partitions, nowMs - retentionDays * dayMs)) {
    if (!mayGoOn() || !(await replace(options, replacement))) return;
  }
}

/** False when somebody is in the way. What was copied by then is used the next time. */
async function replace(options: PartitionsOptions, replacement: Replacement): Promise<boolean> {
  const { db, logger, mayGoOn } = options;
  const { parent: table, target: kept } = replacement;
  try {
    await stageKept(db, replacement);
    while (mayGoOn() && (await copyKept(db, replacement, copyStep)) > 0);
    const dropped = await swapKept(db, replacement);
    if (dropped > 0) logger.info("old history was dropped", { table, partitions: dropped, kept });
    return true;
  } catch (error) {
    if (!isInTheWay(error)) throw error;
    logger.warn("old history is in use and could not be dropped; it is tried again in a minute", {
      table,
      kept,
      error: (error as Error).message,
    });
    return false;
  }
}

/** A lock was not to be had, or the swap would have held its own for too long. */
function isInTheWay(error: unknown): boolean {
  return isConflict(error) || (error as { code?: string }).code === "57014";
}
