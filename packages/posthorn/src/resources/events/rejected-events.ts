// Counts, releases and discards the rejected events that match a filter, oldest first.
import type { DeliveryMode, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { discardRejected, releaseRejected } from "../../storage/queries/events/rejected.ts";
import {
  countRejected,
  type RejectedWalk,
  walkRejected,
} from "../../storage/queries/events/walk-rejected.ts";
import { dateAfter, inSteps, lastMsBefore, ROWS_PER_STEP } from "../in-steps.ts";
import { cursorOf, date, encodeCursor, idRange, readFilters, TIME_RANGE, UUID } from "../page.ts";
import { text, unchecked } from "../read-fields.ts";
import { refuseWhileDropping } from "./event-changes.ts";

export interface RejectedFilter {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  /** Time of the event, inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
  /** Only those that were rejected before this time. Default: now. */
  readonly rejectedBefore?: Date | undefined;
}

export interface RejectedCountQuery extends RejectedFilter {
  /** Only those that can be released: events that were too large to be read have no data. Default false. */
  readonly releasable?: boolean | undefined;
}

export interface RejectedDecision extends RejectedFilter {
  /** `nextCursor` of the previous call. */
  readonly cursor?: string | undefined;
}

export interface RejectedCount {
  readonly count: number;
  /** False: `count` is a lower bound. */
  readonly isExact: boolean;
  /** Those that are rejected later were not counted. Pass it when deciding, so that these are left. */
  readonly rejectedBefore: Date;
}

export interface RejectedEvents {
  /** Counts the events that are neither released nor discarded. */
  countRejected(query?: RejectedCountQuery): Promise<RejectedCount>;
  /** Delivers up to 10,000 of them as they are. Call it again with the cursor until there is none. */
  releaseRejected(
    query?: RejectedDecision,
  ): Promise<{ readonly released: number; readonly nextCursor: string | null }>;
  /** Decides that up to 10,000 of them are not delivered. Call it again with the cursor until there is none. */
  discardRejected(
    query?: RejectedDecision,
  ): Promise<{ readonly discarded: number; readonly nextCursor: string | null }>;
}

export interface RejectedEventsOptions {
  readonly db: Queryable;
  readonly nowMs: () => number;
  /** The mode in effect. */
  readonly deliveryMode: () => Promise<DeliveryMode>;
  /** Events are in the outbox. */
  readonly onReleased: () => void;
}

const LIST = "rejected-events";
/** Upper bound of a count. */
const COUNT_UP_TO = 100_000;

const FILTERS = { ...TIME_RANGE, tenant: text(), type: text(), subject: text(), rejectedBefore: date };

export function createRejectedEvents(options: RejectedEventsOptions): RejectedEvents {
  const { db, nowMs, deliveryMode, onReleased } = options;
  return {
    async countRejected(query = {}) {
      const { releasable, ...asked } = readFilters(query, { ...FILTERS, releasable: unchecked<boolean>() });
      const rejectedBefore = asked.rejectedBefore ?? dateAfter(nowMs());
      const walk = walkOf({ ...asked, rejectedBefore }, releasable === true);
      return { ...(await countRejected(db, { ...walk, limit: COUNT_UP_TO })), rejectedBefore };
    },

    async releaseRejected(query = {}) {
      const { count, nextCursor } = await decide(query, true, async (ids) => {
        refuseWhileDropping(await deliveryMode());
        // someone may have discarded some of them since they were found
        const released = await releaseRejected(db, ids, false);
        if (released > 0) onReleased();
        return released;
      });
      return { released: count, nextCursor };
    },

    async discardRejected(query = {}) {
      const { count, nextCursor } = await decide(query, false, (ids) => discardRejected(db, ids));
      return { discarded: count, nextCursor };
    },
  };

  async function decide(
    query: RejectedDecision,
    onlyWithData: boolean,
    change: (ids: readonly Uuid[]) => Promise<number>,
  ) {
    const { cursor, ...asked } = readFilters(query, { ...FILTERS, cursor: cursorOf(LIST, UUID) });
    const rejectedBefore = asked.rejectedBefore ?? dateAfter(nowMs());
    const walk = walkOf({ ...asked, rejectedBefore }, onlyWithData);
    const first = cursor !== null && cursor > walk.after ? cursor : walk.after;
    const { count, next } = await inSteps(first, async (after) => {
      const { ids, examinedUpTo } = await walkRejected(db, { ...walk, after, limit: ROWS_PER_STEP });
      return { count: ids.length === 0 ? 0 : await change(ids), next: examinedUpTo };
    });
    return { count, nextCursor: next === null ? null : encodeCursor(LIST, next) };
  }
}

type Asked = ReturnType<typeof readFilters<typeof FILTERS>> & { readonly rejectedBefore: Date };

function walkOf(
  { tenant, type, subject, rejectedBefore, ...range }: Asked,
  onlyWithData: boolean,
): Omit<RejectedWalk, "limit"> {
  const { notBefore, before } = idRange(range);
  const rejectedByMs = lastMsBefore(rejectedBefore);
  return { after: notBefore, before, tenant, type, subject, rejectedByMs, onlyWithData };
}
