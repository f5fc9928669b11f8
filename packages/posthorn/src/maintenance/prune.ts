// Deletes what is not dropped with a day: idempotency keys, dead letters with their own retention period, and kept
// rows that are no longer needed. Each step is a transaction.
import { lowestUuidAt } from "@posthorn/wire";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import { type PrunedRange, pruneRange } from "../storage/queries/events/prune.ts";
import { historyPartitions } from "../storage/queries/partitions.ts";
import {
  pruneAuditLog,
  pruneDead,
  pruneDeletedEndpoints,
  pruneKeys,
  pruneMembers,
  pruneNotifications,
  pruneRejections,
  pruneReplayedDeliveries,
  pruneReplayOutcomes,
  pruneReplays,
  pruneSessions,
} from "../storage/queries/retention.ts";
import { dayMs, firstWholeDay } from "./plan-replacements.ts";

export interface Retention {
  readonly retentionDays: number;
  /** Null: dead letters stay until someone deletes or retries them. */
  readonly deadRetentionDays: number | null;
  readonly idempotencyDays: number;
  readonly auditDays: number;
}

export interface PruneOptions extends Retention {
  readonly db: Database;
  readonly logger: Logger;
  /** False if this process stops or no longer leads; checked between steps. */
  readonly mayContinue: () => boolean;
}

const step = 5_000;
const NOTIFICATION_DAYS = 30;

export async function prune(options: PruneOptions): Promise<void> {
  const { db, retentionDays, deadRetentionDays, idempotencyDays, auditDays } = options;
  // deleted endpoints after the history that refers to them
  const pruned = {
    keys: await untilFewer(options, () => pruneKeys(db, idempotencyDays, step)),
    deadLetters:
      deadRetentionDays === null
        ? 0
        : await untilFewer(options, () => pruneDead(db, deadRetentionDays, step)),
    outlived: await pruneOutlived(options),
    endpoints: await untilFewer(options, () => pruneDeletedEndpoints(db, retentionDays, step)),
    auditEntries: await untilFewer(options, () => pruneAuditLog(db, auditDays, step)),
    replays: await untilFewer(options, () => pruneReplays(db, retentionDays, step)),
    replayOutcomes: await untilFewer(options, () => pruneReplayOutcomes(db, retentionDays, step)),
    replayedDeliveries: await untilFewer(options, () => pruneReplayedDeliveries(db, retentionDays, step)),
    sessions: await untilFewer(options, () => pruneSessions(db, 0, step)),
    rejections: await untilFewer(options, () => pruneRejections(db, retentionDays, step)),
    batchMembers: await untilFewer(options, () => pruneMembers(db, retentionDays, step)),
    notifications: await untilFewer(options, () => pruneNotifications(db, NOTIFICATION_DAYS, step)),
  };
  if (Object.values(pruned).some((count) => count > 0)) options.logger.info("pruned", pruned);
}

async function untilFewer({ mayContinue }: PruneOptions, pruneStep: () => Promise<number>): Promise<number> {
  let total = 0;
  while (mayContinue()) {
    const count = await pruneStep();
    total += count;
    if (count < step) break;
  }
  return total;
}

/** Walks all kept rows: 20 ms per 5,000 events. */
async function pruneOutlived({ db, retentionDays, mayContinue }: PruneOptions): Promise<number> {
  const { nowMs, partitions } = await historyPartitions(db);
  const before = firstWholeDay(partitions, nowMs - retentionDays * dayMs);
  let rows = 0;
  let from: Uuid | null = lowestUuidAt(0);
  while (from !== null && mayContinue()) {
    const range: PrunedRange = await pruneRange(db, { from, before, retentionDays, most: step });
    rows += range.rows;
    from = range.next;
  }
  return rows;
}
