// Turns events that callers committed in their own transactions into deliveries. It polls, because a notification in
// the caller's transaction would take a database-wide lock at its commit; an idle look costs a tenth of a millisecond.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Queryable } from "../storage/database.ts";
import { waitingEvents } from "../storage/queries/outbox/waiting.ts";
import type { FanOutBatch, FanOutResult } from "./fan-out.ts";

export interface RelayOptions {
  readonly db: Queryable;
  readonly logger: Logger;
  readonly fanOut: (batch: FanOutBatch) => Promise<FanOutResult>;
  readonly onTrouble: () => void;
}

const batch = { events: 500, bytes: 8 * 1024 * 1024 };

export class Relay {
  readonly #options: RelayOptions;
  readonly #loop: Loop;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#loop = new Loop({
      name: "relaying",
      intervalMs: 100,
      logger: options.logger,
      step: () => this.#relay(),
    });
  }

  start(): Promise<void> {
    return this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  wake(): void {
    this.#loop.wake();
  }

  turn(): Promise<void> {
    return this.#loop.turn();
  }

  async #relay(): Promise<boolean> {
    const events = await waitingEvents(this.#options.db, batch);
    if (events.length === 0) return false;
    try {
      const { refused } = await this.#options.fanOut({ events, keys: [], fromOutbox: true });
      // all of them refused: another worker is at it, so do not race it
      return refused.size < events.length;
    } catch (error) {
      this.#options.onTrouble();
      throw error;
    }
  }
}
