import { expect, test } from "vitest";
import { runAll } from "./run-all.ts";

test("each row is processed once, and failed rows are returned with their errors", async () => {
  const seen: number[] = [];
  const progress: number[] = [];
  const refusal = new Error("no");
  const outcome = await runAll(
    [1, 2, 3, 4, 5, 6, 7],
    async (row) => {
      seen.push(row);
      if (row % 3 === 0) throw refusal;
    },
    { onProgress: (finished) => progress.push(finished) },
  );
  expect(seen.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(outcome.done.toSorted()).toEqual([1, 2, 4, 5, 7]);
  expect(outcome.failed).toEqual([
    { row: 3, error: refusal },
    { row: 6, error: refusal },
  ]);
  expect(progress).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("rows that were not started when it was aborted are returned", async () => {
  const stop = new AbortController();
  const rows = Array.from({ length: 20 }, (_, row) => row);
  const { done, left } = await runAll(rows, async (row) => row === 3 && stop.abort(), {
    signal: stop.signal,
  });
  expect(done.length + left.length).toBe(20);
  expect(left.length).toBeGreaterThan(10);
});
