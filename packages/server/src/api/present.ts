// A list as the API shows it.
import { JsonText } from "./implement.ts";

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export function presentPage<T, Shown>(
  page: Page<T>,
  present: (item: T) => Shown,
): { readonly data: readonly Shown[]; readonly next_cursor: string | null } {
  return { data: page.data.map(present), next_cursor: page.nextCursor };
}

/** For items that are JSON text already. */
export function presentJsonPage<T>(page: Page<T>, text: (item: T) => string): JsonText {
  const next = JSON.stringify(page.nextCursor);
  return new JsonText(`{"data":[${page.data.map(text).join(",")}],"next_cursor":${next}}`);
}
