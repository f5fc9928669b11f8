// Which events an endpoint receives: an exact type, everything below a prefix (`order.*`), or all (`*`).
import { formatId } from "@posthorn/wire";
import type { Event, Uuid } from "../model.ts";

export function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => matchesOne(pattern, type));
}

function matchesOne(pattern: string, type: string): boolean {
  if (pattern === "*" || pattern === type) return true;
  return pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
}

/** Types of Posthorn's own events, which users cannot publish. */
export const SYSTEM_TYPE_PREFIX = "webhook.";

/** Sent to one endpoint, regardless of its event types. */
export const TEST_TYPE = "webhook.test";

/** An endpoint does not receive system events about itself: a disabled one could not receive its own notice anyway. */
export function isAbout({ type, subject }: Pick<Event, "type" | "subject">, endpointId: Uuid): boolean {
  return type.startsWith(SYSTEM_TYPE_PREFIX) && subject === formatId("ep", endpointId);
}
