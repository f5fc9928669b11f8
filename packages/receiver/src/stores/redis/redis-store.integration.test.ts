// The Redis store, held to what every store must do, by both clients; and what only it promises.
import { redisStore } from "@posthorn/receiver/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isQuick } from "../../../../../tests/support/matrix.ts";
import { openRedisWorld } from "../../../../../tests/support/receiver/redis-world.ts";
import { storeSuite } from "../../../../../tests/support/receiver/store-suite.ts";
import {
  claimed,
  LEASE_MS,
  makeDead,
  messageWith,
  ordered,
  orderedWithoutWait,
  terms,
  times,
  WINDOW_MS,
} from "../../../../../tests/support/receiver/store-world.ts";
import {
  findRedisServer,
  type RedisCluster,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  withoutRedis,
} from "../../../../../tests/support/redis-server.ts";
import type { Store } from "../../store.ts";

const program = findRedisServer() as string;
const features = { transactions: false, processes: !isQuick, forgetsByItself: true };

describe.skipIf(program === null)(`with a Redis server (${withoutRedis})`, () => {
  describe("that runs", () => {
    let server: RedisServer;
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

    test.each(["ioredis", "redis"] as const)(
      "a body of a megabyte comes back whole by %s",
      async (library) => {
        const { store, close } = await openRedisWorld(library, server.path);
        const body = Uint8Array.from(times(1_048_576, (at) => at * 31 + (at >> 8)));
        const message = messageWith({ body });
        await store.accept(message, terms);
        const [claim] = await store.claimDue(1, terms);
        expect(claim?.message.body.length).toBe(body.length);
        expect(Buffer.compare(claim?.message.body ?? body.subarray(1), body)).toBe(0);
        await close();
      },
    );

    test("what is done is kept without its body, and no longer than the window", async () => {
      const client = new Redis({ path: server.path });
      const store = redisStore(client, { prefix: "small" });
      const message = messageWith({ text: "x".repeat(10_000) });
      await store.complete(await claimed(store, message));
      const [key = "", ...others] = await client.keys("{small}:*");
      expect(others).toEqual([]);
      expect(JSON.stringify(await client.hgetall(key)).length).toBeLessThan(400);
      const left = await client.pttl(key);
      expect(left).toBeGreaterThan(WINDOW_MS - 60_000);
      expect(left).toBeLessThanOrEqual(WINDOW_MS);
      client.disconnect();
    });

    test("what failed, and is ours after all, does not expire", async () => {
      const { store, makeOlder, close } = await openRedisWorld("ioredis", server.path);
      const [accepted, dead] = [messageWith(), messageWith()];
      for (const message of [accepted, dead]) {
        await store.fail(await claimed(store, message), { error: "no", next: { kind: "release" } });
      }
      await store.accept(accepted, terms);
      await makeDead(store, dead);
      await makeOlder(2 * WINDOW_MS);
      expect((await store.claimDue(9, terms)).map(({ message }) => message)).toEqual([accepted]);
      expect((await store.deadLetters.list({ limit: 9 })).map(({ message }) => message)).toEqual([dead]);
      await close();
    });

    test("a subject with more messages than are looked at does not keep others waiting, and goes on at once", async () => {
      const { store, close } = await openRedisWorld("ioredis", server.path);
      const long = times(700, (at) => messageWith({ subject: "long", sequence: at + 1 }));
      await Promise.all(long.map((message) => store.accept(message, terms)));
      await store.accept(messageWith({ subject: "other", sequence: 1 }), terms);
      const names = async (given = ordered) => {
        const claims = await store.claimDue(5, given);
        return { claims, names: claims.map(({ message }) => `${message.subject} ${message.sequence}`) };
      };
      const first = await names();
      expect(first.names).toEqual(["long 1"]);
      expect((await names()).names).toEqual(["other 1"]);
      expect((await names()).names).toEqual([]);
      await store.complete(first.claims[0] as (typeof first.claims)[0]);
      const second = await names();
      expect(second.names).toEqual(["long 2"]);
      const failure = { error: "no", next: { kind: "dead" } } as const;
      await store.fail(second.claims[0] as (typeof first.claims)[0], failure);
      expect((await names(orderedWithoutWait)).names).toEqual(["long 3"]);
      await close();
    });

    test("a sequence that begins at 0 is handled from there, delivered or from the inbox", async () => {
      const { store, close } = await openRedisWorld("ioredis", server.path);
      const numbered = (subject: string, sequence: number) => messageWith({ subject, sequence });
      for (const sequence of [0, 1]) {
        await store.complete(await claimed(store, numbered("delivered", sequence), ordered));
        await store.accept(numbered("kept", sequence), terms);
        const [taken] = await store.claimDue(9, ordered);
        if (taken === undefined) throw new Error("nothing taken");
        expect(taken.message).toMatchObject({ subject: "kept", sequence });
        await store.complete(taken);
        expect(await store.claim(numbered("delivered", 0), ordered)).toEqual({ kind: "stale" });
      }
      await close();
    });

    test.each(["before", "after"])(
      "a done mark whose answer is lost %s it was written is asked for again",
      async (when) => {
        const client = new Redis({ path: server.path });
        let isLost = false;
        const evalsha = async (...asked: [sha1: string, keyCount: number, ...values: string[]]) => {
          if (!isLost) return client.evalsha(...asked);
          isLost = false;
          if (when === "after") await client.evalsha(...asked);
          return new Promise(() => {});
        };
        const store = redisStore(
          { evalsha, eval: client.eval.bind(client) },
          { prefix: `lost ${when}`, timeoutMs: 300 },
        );
        const message = messageWith({ subject: "order/1", sequence: 1 });
        await store.migrate();
        const claim = await claimed(store, message, ordered);
        await store.complete(await claimed(store, messageWith())); // the script is known now
        isLost = true;
        expect(await store.complete(claim)).toBe(true);
        expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
        expect(await store.complete({ ...claim, token: "another" })).toBe(false);
        client.disconnect();
      },
    );

    test("a prefix of its own keeps a store apart, and so does the client's", async () => {
      const clients = [new Redis({ path: server.path }), new Redis({ path: server.path, keyPrefix: "app:" })];
      const [plain, prefixed] = clients as [Redis, Redis];
      const message = messageWith({ subject: "order/1", sequence: 1 });
      for (const store of [redisStore(plain), redisStore(plain, { prefix: "b" }), redisStore(prefixed)]) {
        await store.complete(await claimed(store, message, ordered));
        expect(await store.claim(message, ordered)).toEqual({ kind: "done" });
      }
      expect((await plain.keys("app:{posthorn:receiver}:*")).length).toBe(2);
      for (const client of clients) client.disconnect();
    });

    test("a page of dead letters goes on after one that is gone, or died anew", async () => {
      const { store, makeOlder, close } = await openRedisWorld("ioredis", server.path);
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
      const claim = await store.claimOne(messages[1] as (typeof messages)[0], terms);
      if (claim !== null) await store.fail(claim, { error: "again", next: { kind: "dead" } });
      expect(await ids(third)).toEqual(["evt_0"]);
      expect(await store.deadLetters.count()).toBe(3);
      await close();
    });

    test("a server that may drop what was acknowledged is refused at the start", async () => {
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
    test("after kill -9 what was acknowledged is there, and the scripts are known again", async () => {
      const server = await startRedisServer(program);
      const { store, close } = await openRedisWorld("ioredis", server.path);
      const [running, waiting, done] = times(3, () => messageWith()) as [Message, Message, Message];
      const claim = await claimed(store, running);
      await store.accept(waiting, terms);
      await store.complete(await claimed(store, done));
      await server.kill();
      await server.start();
      expect((await store.claim(running, terms)).kind).toBe("running");
      expect(await store.renew(claim, LEASE_MS)).toBe(true);
      expect(await store.complete(claim)).toBe(true);
      expect(await store.claim(done, terms)).toEqual({ kind: "done" });
      expect((await store.claimDue(9, terms)).map(({ message }) => message)).toEqual([waiting]);
      await close();
      await server.close();
    });

    test("a server that is away makes a call fail within its time, whatever the client would wait for", async () => {
      const server = await startRedisServer(program);
      const patient = new Redis({ path: server.path, maxRetriesPerRequest: null });
      const other = createClient({ socket: { path: server.path, tls: false } });
      for (const client of [patient, other]) client.on("error", () => {});
      await other.connect();
      const stores = [patient, other].map((client) => redisStore(client, { timeoutMs: 150 }));
      for (const store of stores) await store.migrate();
      await server.kill();
      for (const store of stores) {
        await expect(store.claim(messageWith(), terms)).rejects.toThrow("within 150 ms");
      }
      await server.start();
      for (const store of stores) {
        await expect.poll(() => isClaimed(store), { timeout: 20_000 }).toBe(true);
      }
      patient.disconnect();
      other.destroy();
      await server.close();
    });

    test("a server that only reads makes a call fail at once", async () => {
      const server = await startRedisServer(program);
      const client = new Redis({ path: server.path });
      const store = redisStore(client);
      const message = messageWith();
      await client.replicaof("127.0.0.1", 1);
      await expect(store.claim(message, terms)).rejects.toThrow("READONLY");
      await client.replicaof("NO", "ONE");
      await claimed(store, message);
      client.disconnect();
      await server.close();
    });
  });

  describe("that is a cluster", () => {
    let cluster: RedisCluster;
    beforeAll(async () => {
      cluster = await startRedisCluster(program);
    });
    afterAll(() => cluster.close());

    test("all keys of a store are in one slot, by ioredis", async () => {
      const client = new Cluster([{ host: "127.0.0.1", port: cluster.port }]);
      await useAllOf(redisStore(client, { prefix: "by ioredis" }));
      client.disconnect();
    });

    test("all keys of a store are in one slot, by redis", async () => {
      const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${cluster.port}` }] });
      client.on("error", () => {});
      await client.connect();
      await useAllOf(redisStore(client, { prefix: "by redis" }));
      client.destroy();
    });
  });
});

type Message = ReturnType<typeof messageWith>;

async function isClaimed(store: Store): Promise<boolean> {
  const { kind } = await store.claim(messageWith(), terms);
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
  expect(await store.accept(second, terms)).toEqual({ kind: "accepted" });
  const [taken] = await store.claimDue(2, ordered);
  if (taken === undefined) throw new Error("nothing taken");
  await store.fail(taken, { error: "no", next: { kind: "dead" } });
  expect(await store.deadLetters.list({ limit: 2 })).toHaveLength(1);
  expect(await store.deadLetters.requeue(second)).toBe(true);
  const again = await store.claimOne(second, ordered);
  await store.fail(again ?? taken, { error: "no", next: { kind: "dead" } });
  expect(await store.deadLetters.discard(second)).toBe(true);
  expect(await store.deadLetters.count()).toBe(0);
}
