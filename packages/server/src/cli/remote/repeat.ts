// Repeats an operation that changes what a filter matches, until nothing is left, with a progress bar.
import { progressBar } from "../terminal/progress-bar.ts";
import type { Remote } from "./remote.ts";

interface Repeated {
  /** Shown before the progress, such as "Deleting". */
  readonly doing: string;
  /** Null: unknown. */
  readonly expected: number | null;
  readonly done: (count: number) => string;
  readonly call: (cursor: { readonly cursor?: string }) => Promise<{
    readonly count: number;
    readonly next: string | null;
  }>;
}

/** Returns how many were changed. */
export async function repeat(remote: Remote, { doing, expected, done, call }: Repeated): Promise<number> {
  const bar = progressBar(remote.terminal, doing);
  let count = 0;
  let cursor: string | null = null;
  try {
    do {
      const result = await call(cursor === null ? {} : { cursor });
      count += result.count;
      cursor = result.next;
      bar.update(count, expected);
    } while (cursor !== null);
  } catch (error) {
    remote.note(`${done(count)} before the error.`);
    throw error;
  } finally {
    bar.end();
  }
  return count;
}
