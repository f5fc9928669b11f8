// Runs an action for many rows, a few at a time, and collects the outcomes.

export interface Outcome<Row> {
  readonly done: readonly Row[];
  readonly failed: readonly { readonly row: Row; readonly error: unknown }[];
  /** Rows that were not started because the run was stopped. */
  readonly left: readonly Row[];
}

const CONCURRENCY = 4;

export async function runAll<Row>(
  rows: readonly Row[],
  act: (row: Row) => Promise<unknown>,
  {
    signal,
    onProgress,
  }: { readonly signal?: AbortSignal; readonly onProgress?: (finished: number) => void } = {},
): Promise<Outcome<Row>> {
  const left = [...rows];
  const done: Row[] = [];
  const failed: { row: Row; error: unknown }[] = [];
  const work = async () => {
    while (signal?.aborted !== true) {
      const row = left.shift();
      if (row === undefined) return;
      try {
        await act(row);
        done.push(row);
      } catch (error) {
        failed.push({ row, error });
      }
      onProgress?.(done.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { done, failed, left };
}
