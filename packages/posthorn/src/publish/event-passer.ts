// Passes events to the process of this machine that owns the lanes of their deliveries. That process stores them like its
// own, so that each of the processes costs as much as one alone. An event that it may not have stored is stored here.
import type { Event } from "../model.ts";
import { firstOf, overload, type Pending, type PublishResult, resolveStored } from "./pending-events.ts";
import { stoppedError } from "./publish-errors.ts";

export interface EventPasserOptions {
  /** Resolves with the number of deliveries of each event that was stored, and with null if that is unknown. */
  readonly pass: (workerId: number, events: readonly Event[]) => Promise<readonly (number | null)[] | null>;
  /** Publishes events in this process that may be stored already. */
  readonly publishUnlessStored: (entries: readonly Pending[]) => Promise<void>;
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
    const overloaded = overload(this.#count, this.#bytes);
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
    const stored = await this.#options.pass(
      owner,
      entries.map(({ event }) => event),
    );
    const others: Pending[] = [];
    for (const [index, entry] of entries.entries()) {
      this.#count -= 1;
      this.#bytes -= entry.event.payload.byteLength;
      const deliveries = stored?.[index] ?? null;
      if (deliveries === null) others.push(entry);
      else resolveStored(entry, { deliveries });
    }
    if (others.length > 0) await this.#options.publishUnlessStored(others);
  }
}
