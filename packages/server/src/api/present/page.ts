// A list as the API shows it.
import { json, type Reply } from "../reply.ts";

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export function pageReply<T>(page: Page<T>, present: (item: T) => object): Reply {
  return json(200, { data: page.data.map(present), next_cursor: page.nextCursor });
}

/** For items that are JSON text already. */
export function pageOfJson<T>(page: Page<T>, text: (item: T) => string): Reply {
  const next = JSON.stringify(page.nextCursor);
  return { status: 200, body: `{"data":[${page.data.map(text).join(",")}],"next_cursor":${next}}` };
}
