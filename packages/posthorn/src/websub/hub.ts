// The hub's own work, beside the deliveries: verifying what was asked for, and fetching what was pinged. Each has a loop of
// its own, so that a publisher that hangs keeps no subscriber waiting.
import type { Logger } from "../observe/log.ts";
import { Loop } from "../service/loop.ts";
import type { Service } from "../service/service.ts";

export interface HubOptions {
  readonly logger: Logger;
  readonly verify: () => Promise<void>;
  readonly fetchTopics: () => Promise<void>;
  readonly tidyUp: () => Promise<void>;
}

/** Requests come to any process; one that takes none looks for them. */
const pollMs = 1_000;

export class Hub implements Service {
  readonly #verifying: Loop;
  readonly #fetching: Loop;

  /** Ends what has lapsed, for whoever tends the tables. */
  readonly tidyUp: () => Promise<void>;

  constructor({ logger, verify, fetchTopics, tidyUp }: HubOptions) {
    this.tidyUp = tidyUp;
    const loop = (name: string, work: () => Promise<void>) =>
      new Loop({ name, logger, intervalMs: pollMs, step: () => work().then(() => false) });
    this.#verifying = loop("verifying subscriptions", verify);
    this.#fetching = loop("fetching topics", fetchTopics);
  }

  async start(): Promise<void> {
    await this.#verifying.start();
    await this.#fetching.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#verifying.stop(), this.#fetching.stop()]);
  }

  wake(): void {
    this.#verifying.wake();
    this.#fetching.wake();
  }

  /** Everything the loops would do by and by, done now. */
  async turn(): Promise<void> {
    await Promise.all([this.#verifying.turn(), this.#fetching.turn()]);
  }
}
