// Limits the requests per second of each key. Processes that share a port count together: each has the whole rate, and
// ten times a second deducts what the others have used, if necessary below zero. So the rate holds on average however a
// client's connections are spread, and a burst may exceed it by one second's requests per process. Equal shares would
// limit a client with one connection to a fraction of its rate, and asking before each request would cost more than it.
import { performance } from "node:perf_hooks";
import { BoundedMap } from "@posthorn/wire";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { MAX_CACHED } from "./fresh-cache.ts";

const SHARE_MS = 100;
const TOPIC = "requests";

interface Bucket {
  readonly perSecond: number;
  /** Requests that are still allowed; negative if other processes used more than the rate. */
  left: number;
  at: number;
}

export class RequestRates {
  readonly #group: Pick<ProcessGroup, "broadcast" | "listen"> | undefined;
  readonly #nowMs: () => number;
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_CACHED);
  /** Requests since the other processes were last informed. */
  #used = new Map<string, number>();

  constructor(group?: Pick<ProcessGroup, "broadcast" | "listen">, nowMs = () => performance.now()) {
    this.#group = group;
    this.#nowMs = nowMs;
    group?.listen(TOPIC, (value) => this.#deduct(value as [string, number][]));
  }

  /** Counts a request. Returns 0, or the milliseconds to wait if the rate is exceeded; then it does not count. */
  take(id: string, perSecond: number): number {
    const bucket = this.#bucketOf(id, perSecond);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perSecond) * 1_000);
    bucket.left -= 1;
    if (this.#group !== undefined) this.#share(id, this.#group);
    return 0;
  }

  /** A new bucket has the requests of one second. */
  #bucketOf(id: string, perSecond: number): Bucket {
    const now = this.#nowMs();
    const known = this.#buckets.get(id);
    if (known?.perSecond !== perSecond) {
      const created = { perSecond, left: perSecond, at: now };
      this.#buckets.set(id, created);
      return created;
    }
    known.left = Math.min(perSecond, known.left + ((now - known.at) / 1_000) * perSecond);
    known.at = now;
    return known;
  }

  #share(id: string, group: Pick<ProcessGroup, "broadcast">): void {
    if (this.#used.size === 0) {
      setTimeout(() => {
        group.broadcast(TOPIC, [...this.#used]);
        this.#used = new Map();
      }, SHARE_MS).unref();
    }
    this.#used.set(id, (this.#used.get(id) ?? 0) + 1);
  }

  #deduct(used: readonly (readonly [id: string, requests: number])[]): void {
    for (const [id, requests] of used) {
      const known = this.#buckets.get(id);
      if (known !== undefined) this.#bucketOf(id, known.perSecond).left -= requests;
    }
  }
}
