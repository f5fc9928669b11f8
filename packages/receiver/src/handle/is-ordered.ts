// Whether a message has a place in a sequence that is kept.
import type { Message } from "../model.ts";
import type { ClaimTerms } from "../store.ts";

/** Then it is claimed also when nobody wants its type: the next of its subject would wait for it as for a gap. */
export function isGuarded({ subject, sequence }: Message, { order }: Pick<ClaimTerms, "order">): boolean {
  return order !== null && subject !== null && sequence !== null;
}
