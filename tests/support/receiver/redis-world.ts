// The test environment of the Redis store: its own keys on the test file's server, with either client.
import { randomUUID } from "node:crypto";
import { redisStore } from "@posthorn/receiver/redis";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { StoreWorld } from "./store-world.ts";

export type RedisLibrary = "ioredis" | "redis";

export async function openRedisWorld(library: RedisLibrary, path: string): Promise<StoreWorld<never>> {
  const prefix = `test:${randomUUID()}`;
  const { store, close } = await connect(library, path, prefix);
  await store.migrate();
  const outside = new Redis({ path });
  return {
    store,
    makeOlder: async (ms) => void (await outside.eval(makeOlderScript, 1, `{${prefix}}`, ms)),
    rows: async () => {
      const keys = await outside.keys(`{${prefix}}:*`);
      return keys.filter((key) => /}:(message|subject):/.test(key)).length;
    },
    async close() {
      outside.disconnect();
      await close();
    },
  };
}

async function connect(library: RedisLibrary, path: string, prefix: string) {
  if (library === "ioredis") {
    const client = new Redis({ path });
    client.on("error", () => {});
    return { store: redisStore(client, { prefix }), close: async () => client.disconnect() };
  }
  const client = createClient({ socket: { path, tls: false } });
  client.on("error", () => {});
  await client.connect();
  return { store: redisStore(client, { prefix }), close: async () => client.destroy() };
}

/** Keys that would have expired by then are deleted. */
const makeOlderScript = `
local ms = tonumber(ARGV[1])
for _, key in ipairs(redis.call('KEYS', KEYS[1] .. ':*')) do
  if redis.call('TYPE', key).ok == 'hash' then
    for _, field in ipairs({'at', 'first'}) do
      local at = redis.call('HGET', key, field)
      if at then redis.call('HSET', key, field, string.format('%.0f', at - ms)) end
    end
  elseif not string.find(key, ':queue:', 1, true) then
    for _, name in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -ms, name) end
  end
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, string.format('%.0f', left - ms)) end
end
`;
