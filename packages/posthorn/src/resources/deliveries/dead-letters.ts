// Counts and deletes the dead letters that match a filter.
import type { Database } from "../../storage/database.ts";
import { END_REASONS, type EndReason } from "../../storage/queries/deliveries/read.ts";
import { countDeliveries, type DeliveryWalk, walkDeliveries } from "../../storage/queries/deliveries/walk.ts";
import { deleteDead } from "../../storage/queries/queue/delete-dead.ts";
import { dateAfter, inSteps, lastMsBefore, ROWS_PER_STEP, type Step } from "../in-steps.ts";
import { cursorOf, date, encodeCursor, idRange, readFilters, TIME_RANGE, UUID } from "../page.ts";
import { oneOf, text } from "../read-fields.ts";
import { type EndpointFilter, endpointsAsked, OF_ENDPOINT } from "./deliveries.ts";

export interface DeadLetterFilter extends EndpointFilter {
  readonly type?: string | undefined;
  /** The dead reason. */
  readonly reason?: EndReason | undefined;
  /** Time of the event, inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
  /** Only those that were dead before this time. Default: now. */
  readonly deadBefore?: Date | undefined;
}

export interface DeadLetterDeletion extends DeadLetterFilter {
  /** `nextCursor` of the previous call. */
  readonly cursor?: string | undefined;
}

export interface DeadLetterCount {
  readonly count: number;
  /** False: `count` is a lower bound. */
  readonly isExact: boolean;
  /** Those that die later were not counted. Pass it when deleting, so that these are kept. */
  readonly deadBefore: Date;
}

export interface DeletedDeadLetters {
  /** How many this call deleted. */
  readonly deleted: number;
  /** The `cursor` of the next call; null: all were deleted. */
  readonly nextCursor: string | null;
}

export interface DeadLetters {
  countDead(filter?: DeadLetterFilter): Promise<DeadLetterCount>;
  /** Deletes up to 10,000 for good. Call it again with the cursor until there is none. */
  deleteDead(query?: DeadLetterDeletion): Promise<DeletedDeadLetters>;
}

export interface DeadLettersOptions {
  readonly db: Database;
  readonly nowMs: () => number;
  /** A subject was released. */
  readonly onChanged: (owner: number) => void;
}

const LIST = "dead-letters";
/** Upper bound of a count. */
const COUNT_UP_TO = 100_000;

const FILTERS = {
  ...OF_ENDPOINT,
  ...TIME_RANGE,
  type: text(),
  reason: oneOf(END_REASONS),
  deadBefore: date,
};

export function createDeadLetters({ db, nowMs, onChanged }: DeadLettersOptions): DeadLetters {
  return {
    async countDead(filter = {}) {
      const asked = readFilters(filter, FILTERS);
      const deadBefore = asked.deadBefore ?? dateAfter(nowMs());
      const walk = await walkOf(asked, deadBefore);
      return { ...(await countDeliveries(db, { ...walk, limit: COUNT_UP_TO })), deadBefore };
    },

    async deleteDead(query = {}) {
      const { cursor, ...asked } = readFilters(query, { ...FILTERS, cursor: cursorOf(LIST, UUID) });
      const walk = await walkOf(asked, asked.deadBefore ?? dateAfter(nowMs()));
      const first = cursor !== null && cursor < walk.before ? cursor : walk.before;
      const { count, next } = await inSteps(first, (before) => deleteStep({ ...walk, before }));
      return { deleted: count, nextCursor: next === null ? null : encodeCursor(LIST, next) };
    },
  };

  async function walkOf(asked: Asked, deadBefore: Date): Promise<Walk> {
    const { notBefore, before } = idRange(asked);
    return {
      after: notBefore,
      before,
      direction: "newest_first",
      endpointIds: await endpointsAsked(db, asked),
      states: ["dead"],
      type: asked.type,
      deadReason: asked.reason,
      endedByMs: lastMsBefore(deadBefore),
    };
  }

  async function deleteStep(walk: Walk): Promise<Step> {
    const { rows, examinedUpTo } = await walkDeliveries(db, { ...walk, limit: ROWS_PER_STEP });
    const ids = rows.map(({ id }) => id);
    const { count, owners } = await deleteDead(db, ids, walk.endedByMs);
    for (const owner of owners) onChanged(owner);
    return { count, next: rows.length === ROWS_PER_STEP ? (ids.at(-1) ?? null) : examinedUpTo };
  }
}

type Asked = ReturnType<typeof readFilters<typeof FILTERS>>;
type Walk = Omit<DeliveryWalk, "limit"> & { readonly endedByMs: number };
