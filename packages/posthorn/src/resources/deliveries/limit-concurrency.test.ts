// Many calls on a resource that responds on command.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Semaphore } from "../../service/semaphore.ts";
import { limitConcurrency, MAX_WAIT_MS, MAX_WAITING_CALLS } from "./limit-concurrency.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function crowd(atOnce: number) {
  const begun: { readonly name: string; readonly end: (answer: string) => void }[] = [];
  const ask = (name: string): Promise<string> => new Promise((resolve) => begun.push({ name, end: resolve }));
  const resource = limitConcurrency({ ask }, new Semaphore(atOnce));
  return { begun, ask: resource.ask };
}

test("a limited number of calls run at once, and each returns its own result", async () => {
  const { begun, ask } = crowd(2);
  const answers = ["a", "b", "c"].map((name) => ask(name));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b"]);
  begun[1]?.end("of b");
  expect(await answers[1]).toBe("of b");
  await vi.advanceTimersByTimeAsync(0);
  expect(begun.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});

test("a failed call rejects with its error and releases its slot", async () => {
  const fail = async (): Promise<void> => {
    throw new Error("no such thing");
  };
  const resource = limitConcurrency({ fail, succeed: async () => "done" }, new Semaphore(1));
  await expect(resource.fail()).rejects.toThrow("no such thing");
  expect(await resource.succeed()).toBe("done");
});

test("a call beyond the waiting limit is refused at once", async () => {
  const { ask } = crowd(1);
  const waiting = Array.from({ length: 1 + MAX_WAITING_CALLS }, () => ask("patient"));
  await expect(ask("one too many")).rejects.toMatchObject({ code: "overloaded" });
  const first = await Promise.race([...waiting, Promise.resolve("no call was rejected")]);
  expect(first).toBe("no call was rejected");
  for (const call of waiting) call.catch(() => {});
});

test("a call that waited too long is rejected and never runs", async () => {
  const { begun, ask } = crowd(1);
  const slow = ask("slow");
  const late = ask("late").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS - 1);
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
