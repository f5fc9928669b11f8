import { createHash } from "node:crypto";
import { redisStore } from "@posthorn/receiver/redis";
import { expect, test } from "vitest";
import { type RedisClient, scriptRunner } from "./client.ts";

const sum = "return ARGV[1] + 1";
const sha1 = createHash("sha1").update(sum).digest("hex");

function recording(replies: (() => Promise<unknown>)[]) {
  const calls: unknown[][] = [];
  const reply = (...args: unknown[]) => {
    calls.push(args);
    return (replies.shift() as () => Promise<unknown>)();
  };
  return { calls, reply };
}

test("a script is called by its SHA-1 and sent as text only if the server does not know it", async () => {
  const noScript = async () => Promise.reject(new Error("NOSCRIPT No matching script."));
  const { calls, reply } = recording([noScript, async () => 2, async () => 3]);
  const run = scriptRunner({ evalsha: reply, eval: reply }, "{shop}", 1_000);
  expect(await run(sum, 1)).toBe(2);
  expect(await run(sum, 2)).toBe(3);
  expect(calls).toEqual([
    [sha1, 1, "{shop}", "1"],
    [sum, 1, "{shop}", "1"],
    [sha1, 1, "{shop}", "2"],
  ]);
});

test("a client of redis gets keys and arguments by name", async () => {
  const { calls, reply } = recording([async () => 2]);
  await scriptRunner({ evalSha: reply, eval: reply }, "{shop}", 1_000)(sum, 1);
  expect(calls).toEqual([[sha1, { keys: ["{shop}"], arguments: ["1"] }]]);
});

test("any other error is rethrown without a retry", async () => {
  const { calls, reply } = recording([async () => Promise.reject(new Error("LOADING Redis is loading"))]);
  const run = scriptRunner({ evalsha: reply, eval: reply }, "{shop}", 1_000);
  await expect(run(sum, 1)).rejects.toThrow("LOADING");
  expect(calls).toHaveLength(1);
});

test("a call fails if the client does not respond in time", async () => {
  const never = () => new Promise(() => {});
  const run = scriptRunner({ evalsha: never, eval: never }, "{shop}", 20);
  await expect(run(sum, 1)).rejects.toThrow("Redis did not respond within 20 ms");
});

test("an invalid client, prefix or option is rejected with what to do", () => {
  for (const client of [{}, { get: () => {} }, null]) {
    expect(() => redisStore(client as unknown as RedisClient)).toThrow(
      "a client from ioredis, or from redis 4",
    );
  }
  const client = { evalsha: async () => 0, eval: async () => 0 };
  for (const prefix of ["", "{shop}", "a}"]) {
    expect(() => redisStore(client, { prefix })).toThrow("without braces");
  }
  expect(() => redisStore(client, { timeout: 1 } as object)).toThrow("Did you mean timeoutMs?");
});
