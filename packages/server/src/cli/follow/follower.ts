// Follows a list of the API without gaps. Ids are ordered by time and not by commit, so an event may appear before others
// that were already read. Each poll therefore reads a period again and skips known items. All state is in the client, so
// polling continues across restarts of the server.

export interface Source<Item> {
  /** Returns a page of the items since this time, newest first. */
  list(after: string, cursor: string | undefined): Promise<Page<Item>>;
  /** Identifies an item; each key is returned once. */
  keyOf(item: Item): string;
  /** The time that the list is ordered by. */
  timeOf(item: Item): string;
  /** True if the item may change and be returned again; polls then go back to it. */
  isOpen?(item: Item): boolean;
}

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** Publishing commits within milliseconds, but an application's transaction may stay open longer. */
export const SHORT_OVERLAP_MS = 10_000;
export const LONG_OVERLAP_MS = 300_000;
const POLLS_PER_LONG_POLL = 15;
/** Bounds memory per poll. Items and not pages are counted, because pages of a rare type are empty. */
export const MAX_ITEMS = 10_000;

export class Follower<Item> {
  readonly #source: Source<Item>;
  /** Key → time of the items that a poll may read again. */
  readonly #seen = new Map<string, number>();
  #newestMs: number;
  #startMs: number;
  #isPrimed: boolean;
  #polls = 0;
  #failedLast = false;
  #openSinceMs = Number.POSITIVE_INFINITY;
  #skipped = false;

  /** With `isBackFill` the first poll returns existing items since `from`; otherwise only new ones are returned. */
  constructor(
    source: Source<Item>,
    { from, isBackFill }: { readonly from: Date; readonly isBackFill: boolean },
  ) {
    this.#source = source;
    this.#newestMs = from.getTime();
    this.#startMs = isBackFill ? from.getTime() : from.getTime() - LONG_OVERLAP_MS;
    this.#isPrimed = isBackFill;
  }

  /** Returns new items, oldest first. If it throws, the next poll covers the same period. */
  async poll(): Promise<Item[]> {
    const after = new Date(Math.max(this.#startMs, this.#pollFrom())).toISOString();
    this.#failedLast = true;
    const items = await this.#read(after);
    this.#failedLast = false;
    this.#polls++;
    const fresh = items.filter((item) => this.#isNew(item)).reverse();
    this.#forgetBefore(this.#newestMs - 2 * LONG_OVERLAP_MS);
    if (this.#isPrimed) return fresh;
    this.#isPrimed = true;
    return [];
  }

  /** Returns true once after a poll had more items than it could hold. */
  takeSkipped(): boolean {
    const skipped = this.#skipped;
    this.#skipped = false;
    return skipped;
  }

  #pollFrom(): number {
    const isLong = this.#failedLast || this.#polls % POLLS_PER_LONG_POLL === 0;
    const overlap = isLong ? LONG_OVERLAP_MS : SHORT_OVERLAP_MS;
    // Bounded, because the range would grow with an item that stays open.
    const open = Math.max(this.#openSinceMs, this.#newestMs - LONG_OVERLAP_MS);
    return Math.min(this.#newestMs - overlap, open);
  }

  async #read(after: string): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    for (;;) {
      if (items.length >= MAX_ITEMS) {
        this.#skipped = true;
        return items;
      }
      const page = await this.#source.list(after, cursor);
      items.push(...page.data);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    const open = items.filter((item) => this.#source.isOpen?.(item)).map((item) => this.#timeOf(item));
    this.#openSinceMs = Math.min(...open, Number.POSITIVE_INFINITY);
    return items;
  }

  #isNew(item: Item): boolean {
    const key = this.#source.keyOf(item);
    if (this.#seen.has(key)) return false;
    const time = this.#timeOf(item);
    this.#seen.set(key, time);
    this.#newestMs = Math.max(this.#newestMs, time);
    return true;
  }

  #forgetBefore(ms: number): void {
    this.#startMs = Math.max(this.#startMs, ms);
    for (const [key, time] of this.#seen) if (time < ms) this.#seen.delete(key);
  }

  #timeOf(item: Item): number {
    return Date.parse(this.#source.timeOf(item));
  }
}
