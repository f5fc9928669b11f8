import { expect, test, vi } from "vitest";
import { withProgress } from "./progress.ts";

test("work is reported after a second and then every five seconds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const reported: string[] = [];
    // biome-ignore lint/plugin: under fake timers
    const work = new Promise<void>((resolve) => setTimeout(resolve, 11_500));
    const done = withProgress(
      "Working",
      (message) => reported.push(message),
      () => work,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    expect(reported).toEqual(["Working", "Working (6 s)", "Working (11 s)"]);
  } finally {
    vi.useRealTimers();
  }
});
