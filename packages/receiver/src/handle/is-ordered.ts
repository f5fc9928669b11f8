// Whether a message has a place in a sequence that is kept.
import type { Message } from "../model.ts";
import type { ClaimOptions } from "../store.ts";

/** Then it is claimed also when nobody wants its type: the next of its subject would wait for it as for a gap. */
export function isOrdered({ subject, sequence }: Message, { order }: Pick<ClaimOptions, "order">): boolean {
  return order !== null && subject !== null && sequence !== null;
}
