import { expect, test, vi } from "vitest";
import { gate } from "../../../../../tests/support/gate.ts";
import { Lifetime } from "./lifetime.ts";

function lifetime(graceMs = 25_000) {
  const lines: string[] = [];
  const log = (message: string): void => void lines.push(message);
  let nowMs = 0;
  const logger = { debug: log, info: log, warn: log, error: log };
  let exit = (_code: number): void => {};
  const exited = new Promise<number>((resolve) => {
    exit = resolve;
  });
  const life = new Lifetime({ graceMs, logger, exit: (code) => exit(code), nowMs: () => nowMs });
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  return { life, lines, exited, advance };
}

test("resources are closed in reverse order, and the last log line is stopped", async () => {
  const { life, lines, exited } = lifetime();
  const closed: string[] = [];
  for (const name of ["database", "server"]) life.onEnd(async () => void closed.push(name));
  life.signal("SIGTERM");
  expect(await exited).toBe(0);
  expect(closed).toEqual(["server", "database"]);
  expect(lines.at(-1)).toBe("stopped");
});

test("a signal that arrives twice, from the terminal and through npm, stops gracefully", async () => {
  const { life, exited, advance } = lifetime();
  const { opened, open } = gate();
  life.onEnd(() => opened);
  life.signal("SIGINT");
  advance(4);
  life.signal("SIGINT");
  advance(900);
  life.signal("SIGTERM");
  open();
  expect(await exited).toBe(0);
});

test("a later signal stops at once, after resources that outlive the process are closed", async () => {
  const { life, lines, exited, advance } = lifetime();
  const closed: string[] = [];
  life.onEnd(async () => void closed.push("database"), { alsoWhenForced: true });
  const { opened } = gate();
  life.onEnd(() => opened);
  life.signal("SIGINT");
  advance(1_500);
  life.signal("SIGINT");
  expect(await exited).toBe(1);
  expect(closed).toEqual(["database"]);
  expect(lines.at(-1)).toMatch(/^stopped at once/);
});

test("both kinds of stop have a time limit", async () => {
  vi.useFakeTimers();
  try {
    const { life, exited } = lifetime(10_000);
    const { opened } = gate();
    life.onEnd(() => opened, { alsoWhenForced: true });
    life.signal("SIGTERM");
    await vi.advanceTimersByTimeAsync(10_000 + 2_000 + 3_000);
    expect(await exited).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test("part of the grace period is reserved for the last resources", async () => {
  const { life, exited, advance } = lifetime(25_000);
  const graces: number[] = [];
  const note = async (graceMs: number): Promise<void> => {
    graces.push(graceMs);
    advance(20_000);
  };
  life.onEnd(note);
  life.onEnd(note);
  life.signal("SIGTERM");
  await exited;
  expect(graces).toEqual([23_000, 3_000]);
});

test("a resource that fails to close does not prevent closing the others", async () => {
  const { life, lines, exited } = lifetime();
  const closed: string[] = [];
  life.onEnd(async () => void closed.push("database"));
  life.onEnd(() => Promise.reject(new Error("no")));
  life.signal("SIGTERM");
  expect(await exited).toBe(1);
  expect([closed, lines.at(-1)]).toEqual([["database"], "stopped with an error"]);
});
