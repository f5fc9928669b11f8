// Follows a list of the API as it grows, without a gap. Ids are in the order of time and not of commits: an event may
// appear behind others that are there already. So each look goes back over a stretch that was seen before, and what was
// shown is left out. All it knows is here, so a server that was restarted, or another one, is none of its business.

export interface Source<Item> {
  /** Newest first, from this time on. */
  list(after: Date, cursor: string | undefined): Promise<Page<Item>>;
  /** What makes it worth showing once. */
  keyOf(item: Item): string;
  /** The time by which the list is ordered. */
  timeOf(item: Item): Date;
  /** It will change yet, and be shown again: then looks go back as far as it is. */
  isOpen?(item: Item): boolean;
}

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

/** Publishing takes milliseconds; an application's transaction that publishes may stay open for longer. */
export const QUICK_OVERLAP_MS = 10_000;
export const LONG_OVERLAP_MS = 300_000;
const LOOKS_BETWEEN_LONG_ONES = 15;
/** In one look: more is no list that anybody follows, and would fill the memory. Not pages: of a rare type they are empty. */
export const MAX_ITEMS = 10_000;

export class Follower<Item> {
  readonly #source: Source<Item>;
  /** Key → time, of what is within reach of a look. */
  readonly #seen = new Map<string, number>();
  #newestMs: number;
  #startMs: number;
  #isPrimed: boolean;
  #looks = 0;
  #failedLast = false;
  #openSinceMs = Number.POSITIVE_INFINITY;
  #skipped = false;

  /** With `isBackFill` what is there since then is shown first; otherwise only what comes from now on. */
  constructor(
    source: Source<Item>,
    { from, isBackFill }: { readonly from: Date; readonly isBackFill: boolean },
  ) {
    this.#source = source;
    this.#newestMs = from.getTime();
    this.#startMs = isBackFill ? from.getTime() : from.getTime() - LONG_OVERLAP_MS;
    this.#isPrimed = isBackFill;
  }

  /** What is new, oldest first. When it throws, nothing is lost: the next look covers it. */
  async look(): Promise<Item[]> {
    const after = new Date(Math.max(this.#startMs, this.#lookBackTo()));
    this.#failedLast = true;
    const items = await this.#read(after);
    this.#failedLast = false;
    this.#looks++;
    const fresh = items.filter((item) => this.#isNew(item)).reverse();
    this.#forgetBefore(this.#newestMs - 2 * LONG_OVERLAP_MS);
    if (this.#isPrimed) return fresh;
    this.#isPrimed = true;
    return [];
  }

  /** True, once, when a look met more than it could hold. */
  takeSkipped(): boolean {
    const skipped = this.#skipped;
    this.#skipped = false;
    return skipped;
  }

  #lookBackTo(): number {
    const isLong = this.#failedLast || this.#looks % LOOKS_BETWEEN_LONG_ONES === 0;
    const overlap = isLong ? LONG_OVERLAP_MS : QUICK_OVERLAP_MS;
    // What stays open for longer than that is not waited for: the range would grow without end.
    const open = Math.max(this.#openSinceMs, this.#newestMs - LONG_OVERLAP_MS);
    return Math.min(this.#newestMs - overlap, open);
  }

  async #read(after: Date): Promise<Item[]> {
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
    return this.#source.timeOf(item).getTime();
  }
}
