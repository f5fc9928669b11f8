// What requests keep in memory until they are over. How much that may be is bounded, for one caller and for all: who
// takes too much is refused, and others go on.
import { PosthornError } from "posthorn";
import type { Exchange } from "./exchange.ts";
import { onRequestEnd } from "./on-request-end.ts";
import type { Principal } from "./principal.ts";

export interface MemoryLimits {
  /** Of one tenant, or of one key that is of none. */
  readonly bytesPerCaller: number;
  readonly totalBytes: number;
  /** What is said to who is refused. */
  readonly refusal: string;
}

type Held = Pick<Exchange, "request" | "response">;

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #heldFor = new WeakMap<Held["response"], number>();
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** So many bytes until the request is over, instead of what was held for it before. Throws when they are too many. */
  reserve(exchange: Held, principal: Principal, bytes: number): void {
    const { bytesPerCaller, totalBytes, refusal } = this.#limits;
    const more = bytes - (this.#heldFor.get(exchange.response) ?? 0);
    const isTooMuch =
      this.#held + more > totalBytes || (this.#heldBy.get(ownerOf(principal)) ?? 0) + more > bytesPerCaller;
    if (more > 0 && isTooMuch) throw new PosthornError("overloaded", refusal);
    this.record(exchange, principal, bytes);
  }

  /** The same for the answer to what is done already: whoever is refused that does it again. */
  record(exchange: Held, principal: Principal, bytes: number): void {
    const { response } = exchange;
    const owner = ownerOf(principal);
    const before = this.#heldFor.get(response);
    this.#heldFor.set(response, bytes);
    this.#add(owner, bytes - (before ?? 0));
    if (before !== undefined) return;
    onRequestEnd(exchange, () => {
      this.#add(owner, -(this.#heldFor.get(response) ?? 0));
      this.#heldFor.set(response, 0);
    });
  }

  #add(owner: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(owner);
    else this.#heldBy.set(owner, held);
  }
}

function ownerOf({ tenant, id, kind }: Principal): string {
  if (tenant !== null) return `tenant ${tenant}`;
  return id === null ? kind : `key ${id}`;
}
