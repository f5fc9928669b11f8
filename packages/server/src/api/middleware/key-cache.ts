// Caches keys with their rate limits, and records when they were used.
import { performance } from "node:perf_hooks";
import { BoundedMap } from "@posthorn/wire";
import type { Posthorn } from "posthorn";
import { type KnownKey, RateBucket } from "posthorn/internal";
import { type Cached, FreshCache, MAX_CACHED } from "./fresh-cache.ts";

const RECORD_USE_MS = 60_000;

export class KeyCache {
  readonly #keys: Posthorn["keys"];
  readonly #known: FreshCache<KnownKey>;
  readonly #usedAt = new BoundedMap<string, number>(MAX_CACHED);
  readonly #buckets = new BoundedMap<string, RateBucket>(MAX_CACHED);

  constructor(keys: Posthorn["keys"]) {
    this.#keys = keys;
    this.#known = new FreshCache((id) => keys.known([id]).then(([key = null]) => key));
  }

  find(id: string): Cached<KnownKey> | Promise<Cached<KnownKey>> {
    return this.#known.find(id);
  }

  /** Returns the milliseconds until the key may make another request; zero means now. */
  waitMs(id: string, perSecond: number): number {
    const now = performance.now();
    let bucket = this.#buckets.get(id);
    if (bucket?.perSecond !== perSecond) {
      // starts with the requests of one second
      bucket = new RateBucket(perSecond, now - 1_000);
      this.#buckets.set(id, bucket);
    }
    return bucket.take(now) ? 0 : bucket.waitMs(now);
  }

  /** Records the use at most once a minute, in the background; a failure is ignored. */
  recordUse(id: string): void {
    const now = performance.now();
    if (now - (this.#usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < RECORD_USE_MS) return;
    this.#usedAt.set(id, now);
    this.#keys.markUsed([id]).catch(() => {});
  }
}
