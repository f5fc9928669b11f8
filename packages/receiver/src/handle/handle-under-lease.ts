// For effects that no transaction of the store's can hold. A crash in the middle leaves them; after the lease the
// message is handled again, so they may repeat.

import type { Received } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Kit } from "../runtime.ts";
import { isGuarded } from "./is-ordered.ts";
import { outcomeOf } from "./outcome-of.ts";
import { workClaim } from "./process-claim.ts";

export async function handleUnderLease<Tx>(kit: Kit<Tx>, { message, event }: Received): Promise<Outcome> {
  const { settings, handlers, store, tell } = kit;
  if (handlers.find(event) === null && !isGuarded(message, settings.terms)) {
    tell.unhandled(message);
    return { kind: "ignored" };
  }
  const result = await store.claim(message, settings.terms);
  if (result.kind !== "claimed") return outcomeOf(result, message, tell);
  return workClaim(kit, result.claim, { afterTries: settings.afterTries, delayMs: null }, event);
}
