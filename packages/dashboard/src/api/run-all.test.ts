import { expect, test } from "vitest";
import { runAll } from "./run-all.ts";

test("rows that were not started when it was aborted are returned", async () => {
  const stop = new AbortController();
  const rows = Array.from({ length: 20 }, (_, row) => row);
  const { done, left } = await runAll(rows, async (row) => row === 3 && stop.abort(), {
    signal: stop.signal,
  });
  expect(done.length + left.length).toBe(20);
  expect(left.length).toBeGreaterThan(10);
});
