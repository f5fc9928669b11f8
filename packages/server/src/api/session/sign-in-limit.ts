// Limits failed sign-ins per address, to slow down guessing. Processes that share a port count together.
import { isIPv6 } from "node:net";
import { performance } from "node:perf_hooks";
import { BoundedMap } from "@posthorn/wire";
import type { ProcessGroup } from "../../processes/process-group.ts";
import { HttpError } from "../http-error.ts";
import { MAX_CACHED } from "../middleware/fresh-cache.ts";

/** Burst of failures, then one failure per interval. */
export const FAILURE_BURST = 20;
const FAILURE_EVERY_MS = 3_000;

interface Failures {
  readonly left: number;
  readonly at: number;
}

interface Change {
  readonly owner: string;
  readonly change: 1 | -1;
}

const TOPIC = "sign-ins";

export class SignInLimit {
  readonly #failures = new BoundedMap<string, Failures>(MAX_CACHED);
  readonly #nowMs: () => number;

  readonly #group: Pick<ProcessGroup, "broadcast" | "listen"> | undefined;

  constructor(group?: Pick<ProcessGroup, "broadcast" | "listen">, nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#group = group;
    group?.listen(TOPIC, (value) => {
      const { owner, change } = value as Change;
      this.#keep(owner, this.#left(owner) + change);
    });
  }

  /**
   * Throws if the address has failed too often, even if this attempt would succeed. An attempt counts as a failure until
   * it succeeds, so that parallel attempts are limited too.
   */
  begin(address: string | undefined): void {
    const owner = ownerOf(address);
    const left = this.#left(owner);
    if (left >= 1) {
      this.#change(owner, -1);
      return;
    }
    const seconds = Math.ceil(((1 - left) * FAILURE_EVERY_MS) / 1_000);
    throw new HttpError(
      "too_many_sign_ins",
      "Too many failed sign-ins from this address. Wait for the time in Retry-After.",
      { headers: { "Retry-After": String(seconds) } },
    );
  }

  succeeded(address: string | undefined): void {
    this.#change(ownerOf(address), 1);
  }

  #change(owner: string, change: 1 | -1): void {
    this.#keep(owner, this.#left(owner) + change);
    this.#group?.broadcast(TOPIC, { owner, change } satisfies Change);
  }

  #keep(owner: string, left: number): void {
    const bounded = Math.min(FAILURE_BURST, Math.max(0, left));
    this.#failures.set(owner, { left: bounded, at: this.#nowMs() });
  }

  #left(owner: string): number {
    const known = this.#failures.get(owner);
    if (known === undefined) return FAILURE_BURST;
    const gained = (this.#nowMs() - known.at) / FAILURE_EVERY_MS;
    return Math.min(FAILURE_BURST, known.left + gained);
  }
}

/** An IPv6 client has a whole /64, so addresses are grouped by it. */
function ownerOf(address = ""): string {
  if (!isIPv6(address) || address.includes(".")) return address;
  const [head = "", tail] = address.split("::");
  const front = head.split(":").filter((part) => part !== "");
  const back = (tail ?? "").split(":").filter((part) => part !== "");
  const missing = tail === undefined ? 0 : 8 - front.length - back.length;
  return [...front, ...Array(Math.max(missing, 0)).fill("0"), ...back].slice(0, 4).join(":");
}
