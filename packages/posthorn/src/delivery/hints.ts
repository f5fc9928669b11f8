// Notifies other workers of work in their lanes, at most every two milliseconds. Workers of this machine are notified
// over their sockets, which works behind a pooler and takes no lock; others by NOTIFY.
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Database } from "../storage/database.ts";
import { commonChannel, LOST, notify, workerChannel } from "../storage/queries/workers/hints.ts";
import type { Peers } from "./peers.ts";

const pauseMs = 2;
/** NOTIFY carries less than 8,000 bytes. An empty list of endpoints means all lanes of the receiver. */
const maxEndpoints = 200;
const everyWorker = "every worker";

export class Hints {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #peers: Pick<Peers, "notifyDue">;
  /** The endpoints to look at by worker, or null for all its lanes. */
  readonly #byWorker = new Map<number | typeof everyWorker, Set<Uuid> | null>();
  readonly #lost = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, logger: Logger, peers: Pick<Peers, "notifyDue">) {
    this.#db = db;
    this.#logger = logger;
    this.#peers = peers;
  }

  notifyOwner(workerId: number, endpointId: Uuid): void {
    const endpoints = this.#byWorker.get(workerId);
    if (endpoints === undefined) this.#byWorker.set(workerId, new Set([endpointId]));
    else endpoints?.add(endpointId);
    this.#schedule();
  }

  /** The owner reads the settings of its lanes again. */
  notifySettingsChanged(workerId: number): void {
    this.#byWorker.set(workerId, null);
    this.#schedule();
  }

  /** Deliveries claimed by that worker did not reach it. */
  notifyLost(workerId: number): void {
    this.#lost.add(workerId);
    this.#schedule();
  }

  /** Lanes are ready. */
  notifyAll(): void {
    this.#byWorker.set(everyWorker, null);
    this.#schedule();
  }

  /** Sends what is pending: the lanes of a stopping worker have just become free. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#hasHints) await this.#send();
  }

  get #hasHints(): boolean {
    return this.#byWorker.size + this.#lost.size > 0;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#send(), pauseMs);
  }

  async #send(): Promise<void> {
    const { schema } = this.#db;
    const hints = new Map<string, string>();
    for (const [worker, endpoints] of this.#byWorker) {
      if (worker === everyWorker) hints.set(commonChannel(schema), "");
      else if (endpoints === null || !this.#peers.notifyDue(worker, [...endpoints])) {
        const isForAll = endpoints === null || endpoints.size > maxEndpoints;
        hints.set(workerChannel(schema, worker), isForAll ? "" : [...endpoints].join(","));
      }
    }
    this.#byWorker.clear();
    // the worker's other hint may be left out: reconciliation finds the same rows
    for (const workerId of this.#lost) hints.set(workerChannel(schema, workerId), LOST);
    this.#lost.clear();
    try {
      if (hints.size > 0) await notify(this.#db, hints);
    } catch (error) {
      this.#logger.debug("a hint was not sent; polling finds the work", { error: (error as Error).message });
    }
    this.#timer = undefined;
    if (this.#hasHints) this.#schedule();
  }
}
