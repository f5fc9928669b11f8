// Tells other workers of work in their lanes, at most once in two milliseconds.
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import { commonChannel, notify, workerChannel } from "../storage/queries/workers/hints.ts";

const pauseMs = 2;
/** NOTIFY carries less than 8,000 bytes. An empty list of endpoints means: look at all of your lanes. */
const maxEndpoints = 200;

export class Hints {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #byChannel = new Map<string, Set<Uuid>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  tellOwner(workerId: number, endpointId: Uuid): void {
    this.#add(workerChannel(this.#db.schema, workerId), endpointId);
  }

  /** Lanes are ready, or events wait in the outbox. */
  tellAll(): void {
    this.#add(commonChannel(this.#db.schema));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#byChannel.clear();
  }

  #add(channel: string, endpointId?: Uuid): void {
    let endpoints = this.#byChannel.get(channel);
    if (endpoints === undefined) {
      endpoints = new Set();
      this.#byChannel.set(channel, endpoints);
    }
    if (endpointId !== undefined) endpoints.add(endpointId);
    this.#timer ??= setTimeout(() => void this.#send(), pauseMs);
  }

  async #send(): Promise<void> {
    const hints = new Map<string, string>();
    for (const [channel, endpoints] of this.#byChannel) {
      hints.set(channel, endpoints.size > maxEndpoints ? "" : [...endpoints].join(","));
    }
    this.#byChannel.clear();
    try {
      await notify(this.#db, hints);
    } catch (error) {
      this.#logger.debug("a hint was not sent; polling finds the work", { error: (error as Error).message });
    }
    this.#timer = this.#byChannel.size > 0 ? setTimeout(() => void this.#send(), pauseMs) : undefined;
  }
}
