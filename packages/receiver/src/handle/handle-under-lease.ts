// Mode lease: for effects outside the store's transactions. After a crash the message is handled again once the lease
// expires, so effects may repeat.

import type { Received } from "../request/parse-events.ts";
import type { Outcome } from "../respond.ts";
import type { Runtime } from "../runtime.ts";
import { isOrdered } from "./is-ordered.ts";
import { outcomeOf } from "./outcome-of.ts";
import { processClaim } from "./process-claim.ts";

export async function handleUnderLease<Tx>(
  runtime: Runtime<Tx>,
  { message, event }: Received,
): Promise<Outcome> {
  const { settings, handlers, store, report } = runtime;
  if (handlers.find(event) === null && !isOrdered(message, settings.terms)) {
    report.unhandled(message);
    return { kind: "ignored" };
  }
  const result = await store.claim(message, settings.terms);
  if (result.kind !== "claimed") return outcomeOf(result, message, report);
  return processClaim(runtime, result.claim, { afterTries: settings.afterTries, delayMs: null }, event);
}
