// Mode inbox: store, acknowledge, handle later. For impatient senders and slow handlers.

import type { Received } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Runtime } from "../runtime.ts";
import { outcomeOf } from "./outcome-of.ts";

export async function acceptIntoInbox<Tx>(
  { settings, store, report }: Runtime<Tx>,
  { message }: Received,
  onAccepted: () => void,
): Promise<Outcome> {
  const result = await store.accept(message, settings.terms);
  if (result.kind !== "accepted") return outcomeOf(result, message, report);
  onAccepted();
  return result;
}
