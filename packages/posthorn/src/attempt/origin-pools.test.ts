import { afterEach, expect, test } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "../testing/scripted-receiver.ts";
import { AttemptHandler } from "./attempt-handler.ts";
import { CheckedNames } from "./guard/checked-names.ts";
import { parseAddressPolicy } from "./guard/guard-address.ts";
import { OriginPools, type OriginPoolsOptions } from "./origin-pools.ts";

const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

function pools(options: Partial<OriginPoolsOptions> = {}): OriginPools {
  const now = () => performance.now();
  const names = new CheckedNames({ policy, now, resolve: async () => [] });
  const created = new OriginPools({ policy, names, now, connectionsPerOrigin: 2, ...options });
  cleanups.push(() => created.close());
  return created;
}

async function receiver(): Promise<ScriptedReceiver> {
  const started = await startScriptedReceiver();
  cleanups.push(() => started.close());
  return started;
}

async function post(kept: OriginPools, tenant: string, origin: string): Promise<void> {
  const pool = kept.take(tenant, origin);
  await new Promise((resolve) => {
    const handler = new AttemptHandler(pool, 2_000, null, (used) => kept.release(used), resolve);
    pool.pool.dispatch({ path: "/", method: "POST" }, handler);
  });
  // undici takes a connection back one turn of the event loop after its answer
  await new Promise(setImmediate);
}

test("a pool goes when its last connection does", async () => {
  const server = await receiver();
  server.answer("/", [{}, { headers: { connection: "close" } }]);
  const kept = pools();
  await post(kept, "acme", server.url);
  expect(kept.size).toBe(1);
  await post(kept, "acme", server.url);
  await expect.poll(() => kept.size).toBe(0);
});

test("a pool that never had a connection does not stay", async () => {
  const server = await startScriptedReceiver();
  const { url } = server;
  await server.close();
  const kept = pools();
  await post(kept, "acme", url);
  expect(kept.size).toBe(0);
});

test("pools are limited, and the longest idle are closed first", async () => {
  const server = await receiver();
  const kept = pools({ maxPools: 3 });
  for (const tenant of ["a", "b", "c", "a"]) await post(kept, tenant, server.url);
  expect([kept.size, server.connections]).toEqual([3, 3]);
  await post(kept, "d", server.url);
  expect([kept.size, server.connections]).toEqual([3, 4]);
  // b was idle for the longest time, so it is the one that has to connect again
  for (const tenant of ["a", "c", "d"]) await post(kept, tenant, server.url);
  expect(server.connections).toBe(4);
  await post(kept, "b", server.url);
  expect(server.connections).toBe(5);
});

test("a pool in use is never closed", () => {
  const kept = pools({ maxPools: 1 });
  const take = (tenant: string) => kept.take(tenant, "http://127.0.0.1:9");
  const [a, b] = [take("a"), take("b")];
  expect(take("a")).toBe(a);
  kept.release(b);
  expect(take("b")).not.toBe(b);
});
