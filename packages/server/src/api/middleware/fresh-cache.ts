// Caches keys and sessions for less than a second, so that a busy key costs no queries and a revoked one is refused by
// every process within a second.
import { performance } from "node:perf_hooks";
import { BoundedMap } from "@posthorn/wire";

export interface Cached<Value> {
  /** Null if there is no valid entry of that id. */
  readonly value: Value | null;
  readonly readAt: number;
  /** Monotonic time at which the entry expires. */
  readonly endsAt: number;
}

/** Entries older than the first are refreshed in the background; entries older than the second are not used. */
const REFRESH_MS = 400;
const MAX_AGE_MS = 900;
/** Requests with invalid keys fill the cache up to this bound. */
export const MAX_CACHED = 10_000;

export class FreshCache<Value extends { readonly endsInMs: number | null }> {
  readonly #load: (id: string) => Promise<Value | null>;
  readonly #cached = new BoundedMap<string, Cached<Value>>(MAX_CACHED);
  readonly #reading = new Map<string, Promise<Cached<Value>>>();

  constructor(load: (id: string) => Promise<Value | null>) {
    this.#load = load;
  }

  find(id: string): Cached<Value> | Promise<Cached<Value>> {
    const cached = this.#cached.get(id);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : performance.now() - cached.readAt;
    if (cached === undefined || age > MAX_AGE_MS) return this.#read(id);
    if (age > REFRESH_MS) this.#read(id).catch(() => {});
    return cached;
  }

  /** Removes an entry that this process has just revoked. */
  forget(id: string): void {
    this.#cached.delete(id);
    this.#reading.delete(id);
  }

  #read(id: string): Promise<Cached<Value>> {
    const pending = this.#reading.get(id);
    if (pending !== undefined) return pending;
    const readAt = performance.now();
    const reading: Promise<Cached<Value>> = this.#load(id)
      .then((value) => {
        const endsAt = value?.endsInMs == null ? Number.POSITIVE_INFINITY : readAt + value.endsInMs;
        const cached = { value, readAt, endsAt };
        // an entry that was forgotten meanwhile may have been read before it was revoked
        if (this.#reading.get(id) === reading) this.#cached.set(id, cached);
        return cached;
      })
      .finally(() => {
        if (this.#reading.get(id) === reading) this.#reading.delete(id);
      });
    this.#reading.set(id, reading);
    return reading;
  }
}
