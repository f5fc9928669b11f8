// Sends the notices that were put down when endpoints were disabled. Their state is in the database, so any process may
// send them and none is lost; at least once, as with deliveries. Each channel has a loop of its own, and none of them has
// anything to do with the deliveries: a mail server that hangs delays nothing but mail.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import { nextDelayMs } from "../settle/retry-schedule.ts";
import type { Queryable } from "../storage/database.ts";
import { type ClaimedNotice, claimNotices } from "../storage/queries/notices/claim.ts";
import { describeNotice } from "../storage/queries/notices/describe.ts";
import { pruneNotices, settleNotice } from "../storage/queries/notices/settle.ts";
import type { Channel } from "./channel.ts";
import { MAX_COUNTED, oneLine } from "./wording.ts";

export interface NotifierOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly channels: readonly Channel[];
}

const pollMs = 5_000;
const pruneEveryMs = 3_600_000;
const pruneStep = 1_000;
/** The lease is longer than the longest sending: 50 mails to a tenant, two at a time, 30 s each. */
const claim = { limit: 5, leaseMs: 900_000 };
const longestGraceMs = 5_000;

const minute = 60_000;
const hour = 60 * minute;
/** Eight attempts over about two days; an operator sees to a mail server within that time, or never. */
const schedule = {
  kind: "gaps",
  gapsMs: [minute, 5 * minute, 15 * minute, hour, 6 * hour, 12 * hour, 24 * hour],
} as const;

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #senders: readonly Loop[];
  readonly #pruning: Loop;
  readonly #abort = new AbortController();

  constructor(options: NotifierOptions) {
    this.#options = options;
    const { db, logger, channels } = options;
    this.#senders = channels.map(
      (channel) =>
        new Loop({
          name: `sending notices (${channel.name})`,
          intervalMs: pollMs,
          logger,
          step: () => this.#sendDue(channel),
        }),
    );
    this.#pruning = new Loop({
      name: "pruning notices",
      intervalMs: pruneEveryMs,
      logger,
      step: async () => (await pruneNotices(db, pruneStep)) === pruneStep,
    });
  }

  async start(): Promise<void> {
    await Promise.all([this.#pruning, ...this.#senders].map((loop) => loop.start()));
  }

  /** What is being sent has a moment to end. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), Math.min(graceMs, longestGraceMs));
    await Promise.all([this.#pruning, ...this.#senders].map((loop) => loop.stop()));
    clearTimeout(timer);
  }

  wake(): void {
    for (const loop of this.#senders) loop.wake();
  }

  /** Everything the loops would do by and by, done now. */
  async turn(): Promise<void> {
    await Promise.all(this.#senders.map((loop) => loop.turn()));
  }

  async #sendDue(channel: Channel): Promise<boolean> {
    const claimed = await claimNotices(this.#options.db, channel.name, claim);
    await Promise.all(claimed.map((notice) => this.#send(channel, notice)));
    return claimed.length === claim.limit;
  }

  async #send(channel: Channel, notice: ClaimedNotice): Promise<void> {
    const { db, logger } = this.#options;
    const endpoint = await describeNotice(db, notice.id, MAX_COUNTED + 1);
    const { told, problems } =
      endpoint === null
        ? { told: [], problems: [] }
        : await channel.send(endpoint, notice.told, this.#abort.signal);
    const [problem] = problems;
    // in words from outside, which may hold what the database cannot
    const error = problem === undefined ? null : oneLine(problem);
    const retryInMs =
      error === null ? null : nextDelayMs(schedule, notice.attempts, { random: Math.random, ageMs: 0 });
    const isSent = endpoint !== null && (told.length > 0 || error === null);
    await settleNotice(db, notice, { isSent, told, error, retryInMs });
    if (error === null) return;
    const { id, attempts } = notice;
    const endpointId = endpoint?.endpointId;
    const facts = { channel: channel.name, notice: id, endpointId, attempts, failed: problems.length, error };
    if (retryInMs === null) logger.error("a notice of a disabled endpoint was given up", facts);
    else logger.warn("a notice of a disabled endpoint could not be sent, it will be tried again", facts);
  }
}
