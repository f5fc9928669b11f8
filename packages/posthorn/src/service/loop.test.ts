import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silentLogger } from "../observe/log.ts";
import { Loop } from "./loop.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.spyOn(performance, "now").mockImplementation(() => Date.now());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

interface Line {
  readonly level: string;
  readonly message: string;
  readonly failures: unknown;
  readonly error?: unknown;
}

function startLoop(step: () => Promise<boolean>): { readonly loop: Loop; readonly lines: Line[] } {
  const lines: Line[] = [];
  const say =
    (level: string) =>
    (message: string, { failures, error }: Record<string, unknown> = {}) =>
      lines.push({ level, message, failures, error });
  const logger = { ...silentLogger, warn: say("warn"), info: say("info") };
  const loop = new Loop({ name: "renewal", intervalMs: 1_000, logger, step });
  void loop.start();
  return { loop, lines };
}

async function stop(loop: Loop): Promise<void> {
  const stopped = loop.stop();
  await vi.advanceTimersByTimeAsync(2_000);
  await stopped;
}

test("an outage is logged at once, then every ten seconds with a count, and its end once", async () => {
  let isAway = true;
  const { loop, lines } = startLoop(async () => {
    if (isAway) throw new Error("connection refused");
    return false;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  const warnings = lines.length;
  expect(lines[0]).toMatchObject({ level: "warn", error: "connection refused", failures: 1 });
  expect(warnings).toBeGreaterThanOrEqual(5);
  expect(warnings).toBeLessThanOrEqual(7);
  expect(lines.at(-1)?.failures).toBeGreaterThan(20);

  isAway = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines.slice(warnings)).toMatchObject([{ level: "info", message: "renewal recovered" }]);
  await stop(loop);
});

test("a loop that fails every other run is logged no more often", async () => {
  let turns = 0;
  const { loop, lines } = startLoop(async () => {
    turns += 1;
    if (turns % 2 === 1) throw new Error("now and then");
    return false;
  });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(turns).toBeGreaterThan(40);
  expect(lines.filter(({ level }) => level === "warn").length).toBeLessThanOrEqual(4);
  expect(lines.filter(({ level }) => level === "info").length).toBeLessThanOrEqual(4);
  await stop(loop);
});

test("an error without a message is logged by its code", async () => {
  const { loop, lines } = startLoop(async () => {
    throw Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(lines).toMatchObject([{ error: "ECONNREFUSED" }]);
  await stop(loop);
});
