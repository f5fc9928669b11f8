// Limits the memory that open requests hold, per caller and in total. A caller over its limit is refused, so that it
// cannot affect others.
import { PosthornError } from "posthorn";
import type { Exchange } from "./exchange.ts";
import { onRequestEnd } from "./on-request-end.ts";
import type { Principal } from "./principal.ts";

export interface MemoryLimits {
  /** Limit of one tenant, or of one key without a tenant. */
  readonly bytesPerCaller: number;
  readonly totalBytes: number;
  /** Error message for a refused request. */
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

  /** Reserves memory until the request ends, replacing an earlier reservation. Throws if it exceeds a limit. */
  reserve(exchange: Held, principal: Principal, bytes: number): void {
    const { bytesPerCaller, totalBytes, refusal } = this.#limits;
    const more = bytes - (this.#heldFor.get(exchange.response) ?? 0);
    const isTooMuch =
      this.#held + more > totalBytes || (this.#heldBy.get(ownerOf(principal)) ?? 0) + more > bytesPerCaller;
    if (more > 0 && isTooMuch) throw new PosthornError("overloaded", refusal);
    this.record(exchange, principal, bytes);
  }

  /** Records memory without checking limits, for the response to a completed change: refusing it would cause a repeat. */
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
