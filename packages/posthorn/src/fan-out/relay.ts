// Creates the deliveries of events that callers committed in their own transactions, and checks those that were published
// from SQL. Commits wake it by a notification; under load it watches the outbox instead. The poller wakes it if a
// notification was lost.
import { performance } from "node:perf_hooks";
import type { Event, Rejection, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import { Loop } from "../service/loop.ts";
import type { Queryable } from "../storage/database.ts";
import { rejectEvents } from "../storage/queries/events/rejected.ts";
import { waitingEvents, watchOutbox } from "../storage/queries/outbox.ts";
import type { FanOut } from "./fan-out.ts";
import { OutboxWatch, WATCH_MS } from "./outbox-watch.ts";

export interface RelayOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  /** Returns the problem of each event that was published from SQL, or null. */
  readonly problemsAsRegistered: (
    events: readonly Event[],
  ) => Promise<readonly (Omit<Rejection, "eventId"> | null)[]>;
  readonly observer: Pick<Observer, "rejected">;
  readonly fanOut: FanOut;
  readonly onLostReply: () => void;
}

const batch = { events: 500, bytes: 8 * 1024 * 1024 };

export class Relay {
  readonly #options: RelayOptions;
  readonly #watch = new OutboxWatch();
  readonly #loop: Loop;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "relaying",
      intervalMs: () => this.#watch.pauseMs(performance.now()),
      logger: options.logger,
      step: () => this.#step(),
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  runNow(): Promise<void> {
    return this.#loop.runNow();
  }

  /** Events were added to the outbox. */
  wake(): void {
    this.#loop.wake();
  }

  /** The commit of a publisher sent a notification. */
  notified(): void {
    this.#watch.notified(performance.now());
    this.#loop.wake();
  }

  async #step(): Promise<boolean> {
    const hasMore = await this.#relay();
    await this.#announce();
    return hasMore;
  }

  async #relay(): Promise<boolean> {
    const { db, fanOut, onLostReply } = this.#options;
    const waiting = await waitingEvents(db, batch);
    const rejected = await this.#reject(waiting.unchecked);
    const valid = rejected.size === 0 ? waiting.events : waiting.events.filter(({ id }) => !rejected.has(id));
    if (valid.length === 0) return rejected.size > 0;
    const events = valid.slice(0, await fanOut.fit(valid));
    try {
      const { refused } = await fanOut.run({ events, keys: [], fromOutbox: true });
      this.#watch.relayed(events.length - refused.size);
      // if all were refused, another worker is relaying them: do not race it
      return refused.size < events.length;
    } catch (error) {
      onLostReply();
      throw error;
    }
  }

  /** Returns the events that the catalogue does not accept. They have left the outbox. */
  async #reject(unchecked: readonly Event[]): Promise<ReadonlySet<Uuid>> {
    if (unchecked.length === 0) return new Set();
    const { db, problemsAsRegistered, observer } = this.#options;
    const problems = await problemsAsRegistered(unchecked);
    const rejections = unchecked.flatMap(({ id }, index): Rejection[] => {
      const problem = problems[index];
      return problem ? [{ eventId: id, ...problem }] : [];
    });
    if (rejections.length === 0) return new Set();
    // another worker may have rejected some of them
    const taken = new Set(await rejectEvents(db, rejections, false));
    for (const rejection of rejections) if (taken.has(rejection.eventId)) observer.rejected(rejection);
    return new Set(rejections.map(({ eventId }) => eventId));
  }

  async #announce(): Promise<void> {
    const due = this.#watch.due(performance.now());
    if (due === null) return;
    const isAnnounced = await watchOutbox(this.#options.db, WATCH_MS, due === "extend");
    if (isAnnounced) this.#watch.announced(performance.now());
    else this.#watch.reset(performance.now());
  }
}
