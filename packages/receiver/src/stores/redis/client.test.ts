// How a script reaches a client, by clients that only remember what they were asked.
import { redisStore } from "@posthorn/receiver/redis";
import { expect, test } from "vitest";
import { type RedisClient, script, scriptRunner } from "./client.ts";

const sum = script("return ARGV[1] + 1");

function recording(answers: (() => Promise<unknown>)[]) {
  const asked: unknown[][] = [];
  const answer = (...what: unknown[]) => {
    asked.push(what);
    return (answers.shift() as () => Promise<unknown>)();
  };
  return { asked, answer };
}

test("a script is named by its SHA-1, and sent whole only to a server that does not know it", async () => {
  const noScript = async () => Promise.reject(new Error("NOSCRIPT No matching script."));
  const { asked, answer } = recording([noScript, async () => 2, async () => 3]);
  const run = scriptRunner({ evalsha: answer, eval: answer }, "{shop}", 1_000);
  expect(await run(sum, 1)).toBe(2);
  expect(await run(sum, 2)).toBe(3);
  const sha1 = await sum.sha1;
  expect(sha1).toMatch(/^[0-9a-f]{40}$/);
  expect(asked).toEqual([
    [sha1, 1, "{shop}", "1"],
    [sum.source, 1, "{shop}", "1"],
    [sha1, 1, "{shop}", "2"],
  ]);
});

test("a client of redis gets keys and arguments by name", async () => {
  const { asked, answer } = recording([async () => 2]);
  await scriptRunner({ evalSha: answer, eval: answer }, "{shop}", 1_000)(sum, 1);
  expect(asked).toEqual([[await sum.sha1, { keys: ["{shop}"], arguments: ["1"] }]]);
});

test("any other error is passed on, and not tried again", async () => {
  const { asked, answer } = recording([async () => Promise.reject(new Error("LOADING Redis is loading"))]);
  const run = scriptRunner({ evalsha: answer, eval: answer }, "{shop}", 1_000);
  await expect(run(sum, 1)).rejects.toThrow("LOADING");
  expect(asked).toHaveLength(1);
});

test("a client that never answers does not hold up its caller", async () => {
  const never = () => new Promise(() => {});
  const run = scriptRunner({ evalsha: never, eval: never }, "{shop}", 20);
  await expect(run(sum, 1)).rejects.toThrow("Redis did not respond within 20 ms");
});

test("what is no client, a prefix with braces or without anything, and no time, are refused with what to do", () => {
  for (const client of [{}, { get: () => {} }, null]) {
    expect(() => redisStore(client as unknown as RedisClient)).toThrow(
      "a client from ioredis, or from redis 4",
    );
  }
  const client = { evalsha: async () => 0, eval: async () => 0 };
  for (const prefix of ["", "{shop}", "a}"]) {
    expect(() => redisStore(client, { prefix })).toThrow("without braces");
  }
  for (const timeoutMs of [0, 600_001, Number.NaN]) {
    expect(() => redisStore(client, { timeoutMs })).toThrow(
      "timeoutMs must be a whole number from 1 to 600000",
    );
  }
  for (const timeoutMs of [1, 600_000]) redisStore(client, { timeoutMs });
  expect(() => redisStore(client, { timeout: 1 } as object)).toThrow("Did you mean timeoutMs?");
});
