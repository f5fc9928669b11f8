// Passes events to the process of this machine that owns the lanes of their deliveries. That process stores them like its
// own, with deliveries that are claimed by their events. An event that it does not confirm is stored here.
import type { Event } from "../model.ts";
import {
  bytesOf,
  firstOf,
  overload,
  type Pending,
  type PublishResult,
  resolveStored,
} from "./pending-events.ts";
import { stoppedError } from "./publish-errors.ts";
import type { Publisher } from "./publisher.ts";

export interface EventPasserOptions {
  /** Resolves with the number of deliveries of each stored event; null if it is unknown whether an event is stored. */
  readonly pass: (workerId: number, events: readonly Event[]) => Promise<readonly (number | null)[] | null>;
  /** Publishes the events that are not confirmed. */
  readonly publisher: Pick<Publisher, "publishUnlessStored" | "waitingCount" | "waitingBytes">;
}

export class EventPasser {
  readonly #options: EventPasserOptions;
  #byOwner = new Map<number, Pending[]>();
  readonly #passing = new Set<Promise<void>>();
  #count = 0;
  #bytes = 0;
  #isStopped = false;

  constructor(options: EventPasserOptions) {
    this.#options = options;
  }

  publish(owner: number, event: Event): Promise<PublishResult> {
    if (this.#isStopped) return Promise.reject(stoppedError());
    const { publisher } = this.#options;
    const overloaded = overload(this.#count + publisher.waitingCount, this.#bytes + publisher.waitingBytes);
    if (overloaded !== null) return Promise.reject(overloaded);
    this.#count += 1;
    this.#bytes += event.payload.byteLength;
    return new Promise((resolve, reject) => {
      const entry = { event, key: null, since: performance.now(), mayBeStored: false, resolve, reject };
      const entries = this.#byOwner.get(owner);
      if (entries !== undefined) {
        entries.push(entry);
        return;
      }
      // events of one turn of the event loop share a frame
      if (this.#byOwner.size === 0) setImmediate(() => this.#passAll());
      this.#byOwner.set(owner, [entry]);
    });
  }

  /** Accepts no more, and waits until other processes have replied. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#passAll();
    await Promise.all(this.#passing);
  }

  #passAll(): void {
    const collected = this.#byOwner;
    this.#byOwner = new Map();
    for (const [owner, entries] of collected) {
      for (let rest = entries; rest.length > 0; ) {
        const frame = firstOf(rest);
        rest = rest.slice(frame.length);
        const passing = this.#pass(owner, frame).finally(() => this.#passing.delete(passing));
        this.#passing.add(passing);
      }
    }
  }

  async #pass(owner: number, entries: readonly Pending[]): Promise<void> {
    const events = entries.map(({ event }) => event);
    const stored = await this.#options.pass(owner, events).catch(() => null);
    this.#count -= entries.length;
    this.#bytes -= bytesOf(entries);
    const unconfirmed: Pending[] = [];
    for (const [index, entry] of entries.entries()) {
      const deliveries = stored?.[index] ?? null;
      if (deliveries === null) unconfirmed.push(entry);
      else resolveStored(entry, { deliveries });
    }
    if (unconfirmed.length > 0) this.#options.publisher.publishUnlessStored(unconfirmed);
  }
}
