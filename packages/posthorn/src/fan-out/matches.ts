// Which events an endpoint gets: of an exact type, everything below a prefix (`order.*`), or all (`*`).
import { formatId } from "@posthorn/wire";
import type { Event, Uuid } from "../model.ts";

export function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => matchesOne(pattern, type));
}

function matchesOne(pattern: string, type: string): boolean {
  if (pattern === "*" || pattern === type) return true;
  return pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
}

/** Types of Posthorn's own events; nobody else may publish them. */
export const SYSTEM_TYPE_PREFIX = "webhook.";

/** Goes to one endpoint, whatever that endpoint asks for. */
export const TEST_TYPE = "webhook.test";

/** An endpoint is not sent what Posthorn has to say about it: a disabled one would be owed its own obituary. */
export function isAbout({ type, subject }: Pick<Event, "type" | "subject">, endpointId: Uuid): boolean {
  return type.startsWith(SYSTEM_TYPE_PREFIX) && subject === formatId("ep", endpointId);
}
