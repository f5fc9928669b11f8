// Why an endpoint does not receive an event, without revealing the event's data.
import type { Event } from "../model.ts";
import { type Filter, type FilterFacts, failedCondition } from "./filter.ts";
import { matches } from "./matches.ts";

export interface Mismatch {
  readonly reason: "type" | "filter";
  readonly detail: string;
  /** Locates the failed condition in the filter. */
  readonly pointer: string | null;
}

/** Returns null if the endpoint receives the event. */
export function mismatchOf(
  endpoint: { readonly events: readonly string[]; readonly filter: Filter | null },
  { type, ...facts }: Pick<Event, "type"> & FilterFacts,
): Mismatch | null {
  if (!matches(endpoint.events, type)) {
    return { reason: "type", detail: `Its events do not include ${type}.`, pointer: null };
  }
  const failed = endpoint.filter === null ? null : failedCondition(endpoint.filter, facts);
  if (failed === null) return null;
  const detail = `The condition at ${failed.pointer} of its filter does not hold.`;
  return { reason: "filter", detail, pointer: failed.pointer };
}
