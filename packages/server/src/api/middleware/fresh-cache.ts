// What requests come with, read from the database at most once a second each: so a busy key costs nothing, and a
// revoked one is refused within a second by every process.
import { performance } from "node:perf_hooks";
import { BoundedMap } from "@posthorn/wire";

export interface Cached<Value> {
  /** Null: there is none of that id, or none that is valid. */
  readonly value: Value | null;
  readonly readAt: number;
  /** Monotonic; where it ends, so does what was read. */
  readonly endsAt: number;
}

/** What is this old is read again while it is used; what is as old as the next is not used before. */
const REFRESH_MS = 400;
const MAX_AGE_MS = 900;
/** Requests with invented keys fill the cache up to this bound. */
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

  /** It was ended here: this process knows at once. */
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
        // one that was forgotten meanwhile may have been read before its end
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
