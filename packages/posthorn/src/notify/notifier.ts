// Sends notifications about endpoints. Their state is in the database, so any process may send them; at least
// once, like deliveries. Each channel has its own loop, independent of deliveries: an unresponsive mail server delays
// only mail.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import { nextDelayMs } from "../settle/retry-schedule.ts";
import type { Queryable } from "../storage/database.ts";
import {
  type ClaimedNotification,
  claimNotifications,
  describeNotification,
  type Notice,
  settleNotification,
} from "../storage/queries/notifications/notifications.ts";
import type { ChannelName } from "./channel-names.ts";
import { MAX_COUNTED, oneLine } from "./wording.ts";

/** A way to notify people. */
export interface Channel {
  readonly name: ChannelName;
  /** Never rejects because of a mail server or receiver. Skips the addresses in `notified`. */
  send(notice: Notice, notified: readonly string[], signal: AbortSignal): Promise<Sent>;
}

interface Sent {
  /** Addresses that were reached. */
  readonly notified: readonly string[];
  /** Errors for the others, for the log. */
  readonly problems: readonly string[];
}

export interface NotifierOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly channels: readonly Channel[];
}

const pollMs = 5_000;
/** The lease exceeds the longest run: 50 mails to a tenant, two at a time, 30 s each. */
const claim = { limit: 5, leaseMs: 900_000 };
const longestGraceMs = 5_000;

const minute = 60_000;
const hour = 60 * minute;
/** Eight attempts over about two days. */
const schedule = {
  kind: "gaps",
  gapsMs: [minute, 5 * minute, 15 * minute, hour, 6 * hour, 12 * hour, 24 * hour],
} as const;

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #loops: readonly Loop[];
  readonly #abort = new AbortController();

  constructor(options: NotifierOptions) {
    this.#options = options;
    const { logger, channels } = options;
    this.#loops = channels.map(
      (channel) =>
        new Loop({
          name: `sending notifications (${channel.name})`,
          intervalMs: pollMs,
          logger,
          step: () => this.#sendDue(channel),
        }),
    );
  }

  async start(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.start()));
  }

  /** Waits for running sends, up to the grace period. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), Math.min(graceMs, longestGraceMs));
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    clearTimeout(timer);
  }

  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  async runNow(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.runNow()));
  }

  async #sendDue(channel: Channel): Promise<boolean> {
    const claimed = await claimNotifications(this.#options.db, channel.name, claim);
    await Promise.all(claimed.map((notification) => this.#send(channel, notification)));
    return claimed.length === claim.limit;
  }

  async #send(channel: Channel, notification: ClaimedNotification): Promise<void> {
    const { db, logger } = this.#options;
    const notice = await describeNotification(db, notification.id, MAX_COUNTED + 1);
    const { notified, problems } =
      notice === null
        ? { notified: [], problems: [] }
        : await channel.send(notice, notification.notified, this.#abort.signal);
    const [problem] = problems;
    // text from outside, which may contain characters that the database rejects
    const error = problem === undefined ? null : oneLine(problem);
    const retryInMs =
      error === null ? null : nextDelayMs(schedule, notification.attempts, { random: Math.random, ageMs: 0 });
    const isSent = notice !== null && (notified.length > 0 || error === null);
    await settleNotification(db, notification, { isSent, notified, error, retryInMs });
    if (error === null) return;
    const facts = {
      channel: channel.name,
      notification: notification.id,
      kind: notice?.kind,
      endpointId: notice?.endpointId,
      attempts: notification.attempts,
      failed: problems.length,
      error,
    };
    if (retryInMs === null) logger.error("notification discarded", facts);
    else logger.warn("notification failed; it will be retried", facts);
  }
}
