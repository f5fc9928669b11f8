// Tells whether a message takes part in ordering.
import type { Message } from "../model.ts";
import type { ClaimOptions } from "../store.ts";

/** An ordered message is claimed even without a handler: otherwise its successors would wait for it as for a gap. */
export function isOrdered({ subject, sequence }: Message, { order }: Pick<ClaimOptions, "order">): boolean {
  return order !== null && subject !== null && sequence !== null;
}
