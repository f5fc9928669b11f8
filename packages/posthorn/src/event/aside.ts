// Publishes that wait for a lock somebody else's open transaction may hold, apart from all others. A lock is an
// idempotency key or a subject. Events of one subject stand in one line and keep their order; lines take turns, those
// that are not known to be held first.
import type { Event } from "../model.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";

export interface Locking {
  readonly event: Event;
  readonly key: IdempotencyKey | null;
}

interface Line<Entry> {
  readonly name: string;
  readonly entries: Entry[];
  isSlow: boolean;
}

export class Aside<Entry extends Locking> {
  readonly #lines = new Map<string, Line<Entry>>();
  /** Lines whose turn is to come; one that is being written is not among them. */
  readonly #turns: Line<Entry>[] = [];
  readonly #locks = new Map<string, number>();
  #size = 0;
  #bytes = 0;

  /** Entries here, those being written included. */
  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get waitingLines(): number {
    return this.#turns.length;
  }

  /** It needs a lock that an entry here waits for. */
  concerns(entry: Entry): boolean {
    return this.#size > 0 && locksOf(entry).some((lock) => this.#locks.has(lock));
  }

  add(entry: Entry): void {
    this.#size += 1;
    this.#bytes += entry.event.payload.byteLength;
    for (const lock of locksOf(entry)) this.#locks.set(lock, (this.#locks.get(lock) ?? 0) + 1);
    const name = locksOf(entry).at(-1) as string;
    const line = this.#lines.get(name);
    if (line !== undefined) {
      line.entries.push(entry);
      return;
    }
    const begun: Line<Entry> = { name, entries: [entry], isSlow: false };
    this.#lines.set(name, begun);
    this.#turns.push(begun);
  }

  /** Takes the next line's turn, until it is ended. */
  next(): Turn<Entry> | undefined {
    const fresh = this.#turns.findIndex((line) => !line.isSlow);
    const [line] = this.#turns.splice(Math.max(0, fresh), 1);
    if (line === undefined) return undefined;
    return {
      entries: line.entries,
      isSlow: line.isSlow,
      end: ({ answered, isSlow }) => {
        for (const entry of line.entries.splice(0, answered)) this.#leave(entry);
        line.isSlow = isSlow;
        if (line.entries.length > 0) this.#turns.push(line);
        else this.#lines.delete(line.name);
      },
    };
  }

  #leave(entry: Entry): void {
    this.#size -= 1;
    this.#bytes -= entry.event.payload.byteLength;
    for (const lock of locksOf(entry)) this.#release(lock);
  }

  #release(lock: string): void {
    const count = (this.#locks.get(lock) as number) - 1;
    if (count === 0) this.#locks.delete(lock);
    else this.#locks.set(lock, count);
  }
}

export interface Turn<Entry> {
  /** The whole line, in its order; it may grow meanwhile. */
  readonly entries: readonly Entry[];
  /** The last try met a lock, or a refusal: the first entry is tried alone, and only when no other line waits. */
  readonly isSlow: boolean;
  /** So many from the first on have been answered; the others stay, in their order. */
  end(turn: { readonly answered: number; readonly isSlow: boolean }): void;
}

/** The subject comes last: it names the line. */
export function locksOf({ event, key }: Locking): string[] {
  const locks: string[] = [];
  // no tenant has a space in its id
  if (key !== null) locks.push(`key ${event.tenant} ${key.key}`);
  if (event.subject !== null) locks.push(`subject ${event.tenant} ${event.subject}`);
  return locks;
}
