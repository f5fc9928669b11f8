// Reads a list to its end.
import { repeatedPageError } from "./parse-response.ts";

/** Yields all items of a list: `for await (const item of pages((cursor) => client.tenants.list({ query: { cursor } })))`. */
export async function* pages<Item>(
  list: (cursor: string | undefined) => Promise<{ data: readonly Item[]; next_cursor: string | null }>,
): AsyncGenerator<Item> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    yield* page.data;
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined && seen.has(cursor)) throw repeatedPageError({ status: 200, statusText: "OK" });
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}
