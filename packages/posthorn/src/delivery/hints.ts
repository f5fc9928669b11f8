// Notifies other workers of work in their lanes, at most every two milliseconds.
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import { commonChannel, LOST, notify, workerChannel } from "../storage/queries/workers/hints.ts";

const pauseMs = 2;
/** NOTIFY carries less than 8,000 bytes. An empty list of endpoints means all lanes of the receiver. */
const maxEndpoints = 200;

export class Hints {
  readonly #db: Database;
  readonly #logger: Logger;
  /** The endpoints to look at, or null for all lanes of the owner. */
  readonly #byChannel = new Map<string, Set<Uuid> | null>();
  readonly #lost = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, logger: Logger) {
    this.#db = db;
    this.#logger = logger;
  }

  notifyOwner(workerId: number, endpointId: Uuid): void {
    this.#add(workerChannel(this.#db.schema, workerId), endpointId);
  }

  /** The owner reads the settings of its lanes again. */
  notifySettingsChanged(workerId: number): void {
    this.#add(workerChannel(this.#db.schema, workerId), null);
  }

  /** Deliveries claimed by that worker did not reach it. */
  notifyLost(workerId: number): void {
    this.#lost.add(workerChannel(this.#db.schema, workerId));
    this.#schedule();
  }

  /** Lanes are ready, or events wait in the outbox. */
  notifyAll(): void {
    this.#add(commonChannel(this.#db.schema), null);
  }

  /** Sends what is pending: the lanes of a stopping worker have just become free. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#byChannel.size + this.#lost.size > 0) await this.#send();
  }

  #add(channel: string, endpointId: Uuid | null): void {
    const endpoints = this.#byChannel.get(channel);
    if (endpointId === null) this.#byChannel.set(channel, null);
    else if (endpoints === undefined) this.#byChannel.set(channel, new Set([endpointId]));
    else endpoints?.add(endpointId);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#send(), pauseMs);
  }

  async #send(): Promise<void> {
    const hints = new Map<string, string>();
    for (const [channel, endpoints] of this.#byChannel) {
      const isForAll = endpoints === null || endpoints.size > maxEndpoints;
      hints.set(channel, isForAll ? "" : [...endpoints].join(","));
    }
    this.#byChannel.clear();
    // the channel's other hint may be left out: reconciliation finds the same rows
    for (const channel of this.#lost) hints.set(channel, LOST);
    this.#lost.clear();
    try {
      await notify(this.#db, hints);
    } catch (error) {
      this.#logger.debug("a hint was not sent; polling finds the work", { error: (error as Error).message });
    }
    this.#timer = undefined;
    if (this.#byChannel.size + this.#lost.size > 0) this.#schedule();
  }
}
