// The keys that requests come with, read from the database at most once a second each: so a busy key costs nothing, and
// a revoked one is refused within a second by every process.
import { performance } from "node:perf_hooks";
import type { Posthorn } from "posthorn";
import { type KnownKey, RateBucket } from "posthorn/internal";

export interface CachedKey {
  /** Null: there is none of that id, or none that is valid. */
  readonly key: KnownKey | null;
  readonly readAt: number;
  /** Monotonic; where it ends, so does the key. */
  readonly endsAt: number;
}

/** A key this old is read again while it is used; one as old as the next is not used before. */
const REFRESH_MS = 400;
const MAX_AGE_MS = 900;
/** Whoever sends made-up keys fills this, not the memory. */
const MAX_KEYS = 10_000;
const NOTE_USE_MS = 60_000;

export class KeyCache {
  readonly #keys: Posthorn["keys"];
  readonly #cached = new Map<string, CachedKey>();
  readonly #reading = new Map<string, Promise<CachedKey>>();
  readonly #notedAt = new Map<string, number>();
  readonly #buckets = new Map<string, RateBucket>();

  constructor(keys: Posthorn["keys"]) {
    this.#keys = keys;
  }

  find(id: string): CachedKey | Promise<CachedKey> {
    const cached = this.#cached.get(id);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : performance.now() - cached.readAt;
    if (cached === undefined || age > MAX_AGE_MS) return this.#read(id);
    if (age > REFRESH_MS) this.#read(id).catch(() => {});
    return cached;
  }

  /** Milliseconds to wait before the key may ask again; zero: now. */
  waitMs(id: string, perSecond: number): number {
    const now = performance.now();
    let bucket = this.#buckets.get(id);
    if (bucket?.perSecond !== perSecond) {
      // it starts with a second's worth
      bucket = new RateBucket(perSecond, now - 1_000);
      this.#keep(this.#buckets, id, bucket);
    }
    return bucket.take(now) ? 0 : bucket.waitMs(now);
  }

  /** Not awaited by anybody: when it fails, the next minute's use is noted. */
  noteUse(id: string): void {
    const now = performance.now();
    if (now - (this.#notedAt.get(id) ?? Number.NEGATIVE_INFINITY) < NOTE_USE_MS) return;
    this.#keep(this.#notedAt, id, now);
    this.#keys.markUsed([id]).catch(() => {});
  }

  #read(id: string): Promise<CachedKey> {
    const pending = this.#reading.get(id);
    if (pending !== undefined) return pending;
    const readAt = performance.now();
    const reading = this.#keys
      .known([id])
      .then(([key = null]) => {
        const endsAt = key?.endsInMs == null ? Number.POSITIVE_INFINITY : readAt + key.endsInMs;
        const cached = { key, readAt, endsAt };
        this.#keep(this.#cached, id, cached);
        return cached;
      })
      .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  /** The oldest goes first. */
  #keep<Value>(map: Map<string, Value>, id: string, value: Value): void {
    map.delete(id);
    map.set(id, value);
    if (map.size <= MAX_KEYS) return;
    const [oldest] = map.keys();
    map.delete(oldest as string);
  }
}
