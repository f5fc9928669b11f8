import { expect, test, vi } from "vitest";
import { withProgress } from "./progress.ts";

test("nothing is said about work of less than a second", async () => {
  const said: string[] = [];
  await withProgress(
    "Working",
    (message) => said.push(message),
    async () => {},
  );
  expect(said).toEqual([]);
});

test("long work is named after a second and again every five", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const said: string[] = [];
    // biome-ignore lint/plugin: under fake timers
    const work = new Promise<void>((resolve) => setTimeout(resolve, 11_500));
    const done = withProgress(
      "Working",
      (message) => said.push(message),
      () => work,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    expect(said).toEqual(["Working", "Working (6 s)", "Working (11 s)"]);
  } finally {
    vi.useRealTimers();
  }
});
