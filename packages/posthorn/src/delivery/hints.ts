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
  /** The endpoints to look at, or null for all of the owner's. */
  readonly #byChannel = new Map<string, Set<Uuid> | null>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  notifyOwner(workerId: number, endpointId: Uuid): void {
    this.#add(workerChannel(this.#db.schema, workerId), endpointId);
  }

  /** Settings changed: the owner reads those of its lanes again. */
  notifySettingsChanged(workerId: number): void {
    this.#add(workerChannel(this.#db.schema, workerId), null);
  }

  /** Lanes are ready, or events wait in the outbox. */
  notifyAll(): void {
    this.#add(commonChannel(this.#db.schema), null);
  }

  /** Says what is still to be said: whoever stops has just left its lanes to the others. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#byChannel.size > 0) await this.#send();
  }

  #add(channel: string, endpointId: Uuid | null): void {
    const endpoints = this.#byChannel.get(channel);
    if (endpointId === null) this.#byChannel.set(channel, null);
    else if (endpoints === undefined) this.#byChannel.set(channel, new Set([endpointId]));
    else endpoints?.add(endpointId);
    this.#timer ??= setTimeout(() => void this.#send(), pauseMs);
  }

  async #send(): Promise<void> {
    const hints = new Map<string, string>();
    for (const [channel, endpoints] of this.#byChannel) {
      const isForAll = endpoints === null || endpoints.size > maxEndpoints;
      hints.set(channel, isForAll ? "" : [...endpoints].join(","));
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
