// Publishes that wait for a lock that another transaction may hold, apart from all others. A lock is an idempotency
// key or a subject. Events of one subject form one queue and keep their order; queues take turns, those not known to
// be blocked first.
import type { Event } from "../model.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";

export interface Locking {
  readonly event: Event;
  readonly key: IdempotencyKey | null;
}

interface Subqueue<Entry> {
  readonly name: string;
  readonly entries: Entry[];
  isSlow: boolean;
}

export class LockWaitQueue<Entry extends Locking> {
  readonly #queues = new Map<string, Subqueue<Entry>>();
  /** Queues that wait for their turn; one that is being written is not included. */
  readonly #turns: Subqueue<Entry>[] = [];
  readonly #locks = new Map<string, number>();
  #size = 0;
  #bytes = 0;

  /** The number of entries, including those being written. */
  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waitingCount(): number {
    return this.#turns.length;
  }

  /** True if the entry needs a lock that an entry here waits for. */
  mustWait(entry: Entry): boolean {
    return this.#size > 0 && locksOf(entry).some((lock) => this.#locks.has(lock));
  }

  add(entry: Entry): void {
    this.#size += 1;
    this.#bytes += entry.event.payload.byteLength;
    for (const lock of locksOf(entry)) this.#locks.set(lock, (this.#locks.get(lock) ?? 0) + 1);
    const name = locksOf(entry).at(-1) as string;
    const queue = this.#queues.get(name);
    if (queue !== undefined) {
      queue.entries.push(entry);
      return;
    }
    const created: Subqueue<Entry> = { name, entries: [entry], isSlow: false };
    this.#queues.set(name, created);
    this.#turns.push(created);
  }

  /** Starts the turn of the next queue; `end` ends it. */
  next(): Turn<Entry> | undefined {
    const fresh = this.#turns.findIndex((queue) => !queue.isSlow);
    const [queue] = this.#turns.splice(Math.max(0, fresh), 1);
    if (queue === undefined) return undefined;
    return {
      entries: queue.entries,
      isSlow: queue.isSlow,
      end: ({ finished, isSlow }) => {
        for (const entry of queue.entries.splice(0, finished)) this.#remove(entry);
        queue.isSlow = isSlow;
        if (queue.entries.length > 0) this.#turns.push(queue);
        else this.#queues.delete(queue.name);
      },
    };
  }

  #remove(entry: Entry): void {
    this.#size -= 1;
    this.#bytes -= entry.event.payload.byteLength;
    for (const lock of locksOf(entry)) {
      const count = (this.#locks.get(lock) as number) - 1;
      if (count === 0) this.#locks.delete(lock);
      else this.#locks.set(lock, count);
    }
  }
}

export interface Turn<Entry> {
  /** The whole queue in order; it may grow during the turn. */
  readonly entries: readonly Entry[];
  /** The last attempt found a lock or failed: the first entry is written alone, and only if no other queue waits. */
  readonly isSlow: boolean;
  /** The first `finished` entries are done; the others stay in their order. */
  end(turn: { readonly finished: number; readonly isSlow: boolean }): void;
}

/** The subject comes last: it names the queue. */
export function locksOf({ event, key }: Locking): string[] {
  const locks: string[] = [];
  // a tenant id contains no space
  if (key !== null) locks.push(`key ${event.tenant} ${key.key}`);
  if (event.subject !== null) locks.push(`subject ${event.tenant} ${event.subject}`);
  return locks;
}
