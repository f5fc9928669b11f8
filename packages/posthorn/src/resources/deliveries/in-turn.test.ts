// A crowd of calls on a resource that answers when the test says so.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Semaphore } from "../../service/semaphore.ts";
import { inTurn, LONGEST_WAIT_MS, MOST_WAITING_CALLS } from "./in-turn.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function crowd(atOnce: number) {
  const begun: { readonly name: string; readonly end: (answer: string) => void }[] = [];
  const ask = (name: string): Promise<string> => new Promise((resolve) => begun.push({ name, end: resolve }));
  const resource = inTurn({ ask }, new Semaphore(atOnce));
  return { begun, ask: resource.ask };
}

test("so many calls run at once, and the next begins when one has ended, with its own answer", async () => {
  const { begun, ask } = crowd(2);
  const answers = ["a", "b", "c"].map((name) => ask(name));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b"]);
  begun[1]?.end("of b");
  expect(await answers[1]).toBe("of b");
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});

test("a call that fails says why and leaves its turn to the next", async () => {
  const fail = async (): Promise<void> => {
    throw new Error("no such thing");
  };
  const resource = inTurn({ fail, succeed: async () => "done" }, new Semaphore(1));
  await expect(resource.fail()).rejects.toThrow("no such thing");
  expect(await resource.succeed()).toBe("done");
});

test("as many as may wait do wait, and one more is refused at once", async () => {
  const { ask } = crowd(1);
  const waiting = Array.from({ length: 1 + MOST_WAITING_CALLS }, () => ask("patient"));
  await expect(ask("one too many")).rejects.toMatchObject({ code: "overloaded" });
  const first = await Promise.race([...waiting, Promise.resolve("nobody was refused")]);
  expect(first).toBe("nobody was refused");
  for (const call of waiting) call.catch(() => {});
});

test("whoever waited for too long is told, and is not worked for any more", async () => {
  const { begun, ask } = crowd(1);
  const slow = ask("slow");
  const late = ask("late").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(LONGEST_WAIT_MS - 1);
  const next = ask("next");
  await vi.advanceTimersByTimeAsync(1);
  expect(await late).toMatchObject({ code: "overloaded" });
  begun[0]?.end("at last");
  expect(await slow).toBe("at last");
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.map(({ name }) => name)).toEqual(["slow", "next"]);
  begun[1]?.end("in time");
  expect(await next).toBe("in time");
});
