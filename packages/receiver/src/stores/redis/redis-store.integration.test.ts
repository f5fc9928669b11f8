// The Redis store with both clients: the suite of all stores, and its own guarantees.
import { redisStore } from "@posthorn/receiver/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storeSuite } from "../../../../../tests/receiver-stores/store-suite.ts";
import {
  findProgram,
  startRedisCluster,
  startRedisServer,
  withoutRedis,
} from "../../../../../tests/support/processes/system-programs.ts";
import { openRedisWorld } from "../../../../../tests/support/receiver/redis-world.ts";
import {
  claimed,
  DEAD,
  defaults,
  LEASE_MS,
  makeDead,
  makeDone,
  makeFailed,
  messageWith,
  ordered,
  orderedWithoutWait,
  times,
  WINDOW_MS,
} from "../../../../../tests/support/receiver/store-world.ts";
import type { Message } from "../../model.ts";
import type { Store } from "../../store.ts";

const program = findProgram("redis-server") as string;
const features = { transactions: false, expiresWithoutPrune: true };

describe.skipIf(program === null)(`with a Redis server (${withoutRedis})`, () => {
  describe("that runs", () => {
    let server: Awaited<ReturnType<typeof startRedisServer>>;
    beforeAll(async () => {
      server = await startRedisServer(program);
    });
    afterAll(() => server.close());

    storeSuite("Redis by ioredis", () => openRedisWorld("ioredis", server.path), features, {
      index: 0,
      of: 2,
    });
    storeSuite("Redis by redis", () => openRedisWorld("redis", server.path), features, {
      index: 1,
      of: 2,
    });

    test("a body of a megabyte is returned unchanged", async () => {
      const { store } = await open("redis", server.path);
      const body = Uint8Array.from(times(1_048_576, (at) => at * 31 + (at >> 8)));
      await store.accept(messageWith({ body }), defaults);
      const [claim] = await store.claimDue(1, defaults);
      expect(Buffer.compare(claim?.message.body ?? new Uint8Array(), body)).toBe(0);
    });

    test("a done message is stored without its body until the end of the window", async () => {
      const client = new Redis({ path: server.path });
      const store = redisStore(client, { prefix: "small" });
      const message = messageWith({ text: "x".repeat(10_000) });
      await makeDone(store, message);
      const [key = "", ...others] = await client.keys("{small}:*");
      expect(others).toEqual([]);
      expect(JSON.stringify(await client.hgetall(key)).length).toBeLessThan(400);
      const left = await client.pttl(key);
      expect(left).toBeGreaterThan(WINDOW_MS - 60_000);
      expect(left).toBeLessThanOrEqual(WINDOW_MS);
      client.disconnect();
    });

    test("a failed message that is accepted or dead does not expire", async () => {
      const { store, makeOlder } = await open("ioredis", server.path);
      const [accepted, dead] = [messageWith(), messageWith()];
      for (const message of [accepted, dead]) await makeFailed(store, message);
      await store.accept(accepted, defaults);
      await makeDead(store, dead);
      await makeOlder(2 * WINDOW_MS);
      expect((await store.claimDue(9, defaults)).map(({ message }) => message)).toEqual([accepted]);
      expect((await store.deadLetters.list({ limit: 9 })).map(({ message }) => message)).toEqual([dead]);
    });

    test("a subject with more messages than one call examines does not block others, and continues at once", async () => {
      const { store } = await open("ioredis", server.path);
      const long = times(700, (at) => messageWith({ subject: "long", sequence: at + 1 }));
      await Promise.all(long.map((message) => store.accept(message, defaults)));
      await store.accept(messageWith({ subject: "other", sequence: 1 }), defaults);
      const names = async (options = ordered) => {
        const claims = await store.claimDue(5, options);
        return { claims, names: claims.map(({ message }) => `${message.subject} ${message.sequence}`) };
      };
      const first = await names();
      expect(first.names).toEqual(["long 1"]);
      expect((await names()).names).toEqual(["other 1"]);
      expect((await names()).names).toEqual([]);
      await store.complete(first.claims[0] as (typeof first.claims)[0]);
      const second = await names();
      expect(second.names).toEqual(["long 2"]);
      await store.fail(second.claims[0] as (typeof first.claims)[0], DEAD);
      expect((await names(orderedWithoutWait)).names).toEqual(["long 3"]);
    });

    test.each(["before", "after"])(
      "a completion whose reply is lost %s it was written is repeated",
      async (when) => {
        const client = new Redis({ path: server.path });
        const options = { prefix: `lost ${when}` };
        const store = redisStore(client, options);
        let isLost = true;
        const evalsha = async (...args: [sha1: string, keyCount: number, ...values: string[]]) => {
          if (!isLost) return client.evalsha(...args);
          isLost = false;
          if (when === "after") await client.evalsha(...args);
          throw new Error("Connection is closed.");
        };
        const losing = redisStore({ evalsha, eval: client.eval.bind(client) }, options);
        const message = messageWith({ subject: "order/1", sequence: 1 });
        const claim = await claimed(store, message, ordered);
        await makeDone(store, messageWith()); // the script is known now
        expect(await losing.complete(claim)).toBe(true);
        expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
        expect(await store.complete({ ...claim, token: "another" })).toBe(false);
        client.disconnect();
      },
    );

    test("stores with different prefixes, or a client's prefix, share nothing", async () => {
      const clients = [new Redis({ path: server.path }), new Redis({ path: server.path, keyPrefix: "app:" })];
      const [plain, prefixed] = clients as [Redis, Redis];
      const message = messageWith({ subject: "order/1", sequence: 1 });
      for (const store of [redisStore(plain), redisStore(plain, { prefix: "b" }), redisStore(prefixed)]) {
        await makeDone(store, message, ordered);
        expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
      }
      expect((await plain.keys("app:{posthorn:receiver}:*")).length).toBe(2);
      for (const client of clients) client.disconnect();
    });

    test("a page of dead letters continues after one that was discarded or died again", async () => {
      const { store, makeOlder } = await open("ioredis", server.path);
      const messages = times(4, (at) => messageWith({ id: `evt_${at}` }));
      for (const message of messages) {
        await makeDead(store, message);
        await makeOlder(1_000);
      }
      const ids = async (after: Awaited<ReturnType<typeof store.deadLetters.list>>[0] | undefined) =>
        (await store.deadLetters.list({ limit: 9, ...(after && { after }) })).map(
          ({ message }) => message.id,
        );
      const [, second, third] = await store.deadLetters.list({ limit: 3 });
      await store.deadLetters.discard(messages[2] as (typeof messages)[0]);
      expect(await ids(second)).toEqual(["evt_1", "evt_0"]);
      await store.deadLetters.requeue(messages[1] as (typeof messages)[0]);
      const claim = await store.claimOne(messages[1] as (typeof messages)[0], defaults);
      if (claim !== null) await store.fail(claim, DEAD);
      expect(await ids(third)).toEqual(["evt_0"]);
      expect(await store.deadLetters.count()).toBe(3);
    });

    test("a server that may evict acknowledged messages is rejected by migrate()", async () => {
      const client = new Redis({ path: server.path });
      const store = redisStore(client);
      await client.config("SET", "maxmemory-policy", "allkeys-lru");
      await store.migrate();
      await client.config("SET", "maxmemory", "1gb");
      await expect(store.migrate()).rejects.toThrow("maxmemory-policy allkeys-lru");
      await client.config("SET", "maxmemory-policy", "noeviction");
      await store.migrate();
      await client.config("SET", "maxmemory", "0");
      client.disconnect();
    });
  });

  describe("that fails", () => {
    test("acknowledged messages survive kill -9, and the scripts are loaded again", async () => {
      const server = await startRedisServer(program);
      onTestFinished(() => server.close());
      const { store } = await open("ioredis", server.path);
      const [running, waiting, done] = times(3, () => messageWith()) as [Message, Message, Message];
      const claim = await claimed(store, running);
      await store.accept(waiting, defaults);
      await makeDone(store, done);
      await server.kill();
      await server.start();
      expect((await store.claim(running, defaults)).kind).toBe("running");
      expect(await store.renew(claim, LEASE_MS)).toBe(true);
      expect(await store.complete(claim)).toBe(true);
      expect(await store.claim(done, defaults)).toEqual({ kind: "done" });
      expect((await store.claimDue(9, defaults)).map(({ message }) => message)).toEqual([waiting]);
    });

    test("a call to an unavailable server fails within its time limit, however long the client would wait", async () => {
      const server = await startRedisServer(program);
      onTestFinished(() => server.close());
      const patient = new Redis({ path: server.path, maxRetriesPerRequest: null });
      const other = createClient({ socket: { path: server.path, tls: false } });
      for (const client of [patient, other]) client.on("error", () => {});
      await other.connect();
      for (const client of [patient, other]) await redisStore(client).migrate();
      const stores = [patient, other].map((client) => redisStore(client, { timeoutMs: 150 }));
      await server.kill();
      for (const store of stores) {
        await expect(store.claim(messageWith(), defaults)).rejects.toThrow("within 150 ms");
      }
      await server.start();
      for (const store of stores) {
        await expect.poll(() => isClaimed(store), { timeout: 20_000 }).toBe(true);
      }
      patient.disconnect();
      other.destroy();
    });
  });

  describe("that is a cluster", () => {
    let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
    beforeAll(async () => {
      cluster = await startRedisCluster(program);
    });
    afterAll(() => cluster.close());

    test("all keys of a store are in one slot, by ioredis and by redis", async () => {
      const ioredis = new Cluster([{ host: "127.0.0.1", port: cluster.port }]);
      await useAllOf(redisStore(ioredis, { prefix: "by ioredis" }));
      ioredis.disconnect();
      const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${cluster.port}` }] });
      client.on("error", () => {});
      await client.connect();
      await useAllOf(redisStore(client, { prefix: "by redis" }));
      client.destroy();
    });
  });
});

async function open(...args: Parameters<typeof openRedisWorld>) {
  const world = await openRedisWorld(...args);
  onTestFinished(() => world.close());
  return world;
}

async function isClaimed(store: Store): Promise<boolean> {
  const { kind } = await store.claim(messageWith(), defaults);
  return kind === "claimed";
}

async function useAllOf(store: Store): Promise<void> {
  await store.migrate();
  const [first, second] = times(2, (at) => messageWith({ subject: "order/1", sequence: at + 1 })) as [
    Message,
    Message,
  ];
  const claim = await claimed(store, first, ordered);
  expect(await store.renew(claim, LEASE_MS)).toBe(true);
  expect(await store.complete(claim)).toBe(true);
  expect(await store.accept(second, defaults)).toEqual({ kind: "accepted" });
  const [due] = await store.claimDue(2, ordered);
  if (due === undefined) throw new Error("nothing claimed");
  await store.fail(due, DEAD);
  expect(await store.deadLetters.list({ limit: 2 })).toHaveLength(1);
  expect(await store.deadLetters.requeue(second)).toBe(true);
  const again = await store.claimOne(second, ordered);
  await store.fail(again ?? due, DEAD);
  expect(await store.deadLetters.discard(second)).toBe(true);
  expect(await store.deadLetters.count()).toBe(0);
}
