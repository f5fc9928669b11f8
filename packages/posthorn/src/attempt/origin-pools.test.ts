import { expect, onTestFinished, test } from "vitest";
import { closedUrl, LOOPBACK as policy } from "../../../../tests/support/servers/dispatcher.ts";
import { startReceiver } from "../../../../tests/support/servers/start-receiver.ts";
import { AttemptHandler } from "./attempt-handler.ts";
import { CheckedNames } from "./guard/checked-names.ts";
import { OriginPools, type OriginPoolsOptions } from "./origin-pools.ts";

function openPools(options: Partial<OriginPoolsOptions> = {}): OriginPools {
  const now = () => performance.now();
  const names = new CheckedNames({ policy, now, resolve: async () => [] });
  const pools = new OriginPools({ policy, names, now, connectionsPerOrigin: 2, ...options });
  onTestFinished(() => pools.close());
  return pools;
}

async function post(kept: OriginPools, tenant: string, origin: string): Promise<void> {
  const pool = kept.acquire(tenant, origin);
  await new Promise((resolve) => {
    const head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    const request = { head, body: Buffer.alloc(0), timeoutMs: 60_000 };
    pool.send(new AttemptHandler(pool, request, null, resolve));
  });
  // A connection is used again one turn of the event loop after its response.
  await new Promise(setImmediate);
}

test("a pool is removed with its last connection", async () => {
  const server = await startReceiver();
  server.answer("/", [{}, { headers: { connection: "close" } }]);
  const kept = openPools();
  await post(kept, "acme", server.url);
  expect(kept.size).toBe(1);
  await post(kept, "acme", server.url);
  await expect.poll(() => kept.size).toBe(0);
});

test("a pool that never had a connection is removed", async () => {
  const kept = openPools();
  await post(kept, "acme", await closedUrl());
  expect(kept.size).toBe(0);
});

test("pools are limited, and the longest idle are closed first", async () => {
  const server = await startReceiver();
  const kept = openPools({ maxPools: 3 });
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
  const kept = openPools({ maxPools: 1 });
  const take = (tenant: string) => kept.acquire(tenant, "http://127.0.0.1:9");
  const [a, b] = [take("a"), take("b")];
  expect(take("a")).toBe(a);
  b.release();
  const other = take("b");
  expect(other).not.toBe(b);
  for (const pool of [a, a, other]) pool.release();
});
