// Answers that are being made, and those that nobody has read yet, are in memory. How much they may take together is
// bounded, for one caller and for all: whoever does not read is refused, and others go on.
import { PosthornError } from "posthorn";
import type { Exchange } from "./exchange.ts";
import type { Principal } from "./principal.ts";
import { whenOver } from "./when-over.ts";

/** Of one tenant, or of one key that is of none: 16 of the largest pages. */
export const MAX_ANSWER_BYTES_OF_ONE = 64 * 1024 * 1024;
export const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

type Answering = Pick<Exchange, "request" | "response">;

export class AnswerRoom {
  readonly #heldFor = new WeakMap<Answering["response"], number>();
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  /** So many bytes until the answer is out, instead of what was held for it before. Throws when they are too many. */
  hold(exchange: Answering, principal: Principal, bytes: number): void {
    const more = bytes - (this.#heldFor.get(exchange.response) ?? 0);
    const isTooMuch =
      this.#held + more > MAX_ANSWER_BYTES ||
      (this.#heldBy.get(ownerOf(principal)) ?? 0) + more > MAX_ANSWER_BYTES_OF_ONE;
    if (more > 0 && isTooMuch) throw noRoom();
    this.count(exchange, principal, bytes);
  }

  /** The same for the answer to what is done already: whoever is refused that does it again. */
  count(exchange: Answering, principal: Principal, bytes: number): void {
    const { response } = exchange;
    const owner = ownerOf(principal);
    const before = this.#heldFor.get(response);
    this.#heldFor.set(response, bytes);
    this.#add(owner, bytes - (before ?? 0));
    if (before !== undefined) return;
    whenOver(exchange, () => {
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

function noRoom(): PosthornError {
  return new PosthornError(
    "overloaded",
    "Too many large answers are being made or wait to be read. Read those you asked for, and try again in a second.",
  );
}
