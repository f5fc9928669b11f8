// The server's catalogue: every version of every type.
import { type EventType, pages } from "@posthorn/client";
import type { Remote } from "../remote/remote.ts";

/** An event type as a file has it. */
export type CatalogueType = Omit<EventType, "created_at" | "updated_at">;

/** Sorted by name and version. */
export async function readServer({ client }: Pick<Remote, "client">): Promise<EventType[]> {
  const types: EventType[] = [];
  for await (const type of pages((cursor) => client.eventTypes.list({ query: { limit: 250, cursor } })))
    types.push(type);
  return types;
}

export function withoutTimes({ created_at: _, updated_at: _updated, ...type }: EventType): CatalogueType {
  return type;
}
