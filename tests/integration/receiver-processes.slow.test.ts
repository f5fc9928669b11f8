// Two processes that receive with one store, and one of them killed in the middle of a handler.
import type { Mode } from "@posthorn/receiver";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openPool, openPostgres } from "../support/receiver/postgres-world.ts";
import { startReceiverProcess } from "../support/receiver/receiver-process.ts";
import { openRedisWorld } from "../support/receiver/redis-world.ts";
import { signedDelivery } from "../support/receiver/signed-delivery.ts";
import { openSqliteWorld } from "../support/receiver/sqlite-world.ts";
import { LEASE_MS, type StoreWorld, times } from "../support/receiver/store-world.ts";
import {
  findRedisServer,
  type RedisServer,
  startRedisServer,
  withoutRedis,
} from "../support/redis-server.ts";

function processTests(name: string, open: () => Promise<StoreWorld>, mode: Mode): void {
  describe(`${name}, mode ${mode}`, () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());
    const start = (hangs = false) => {
      if (world.secondProcess === undefined) throw new Error("This store is of one process.");
      return startReceiverProcess(world.secondProcess, { mode, hangs });
    };

    test("of fifty duplicates at once, sent to two processes, one is handled", async () => {
      await using first = await start();
      await using second = await start();
      const delivery = await signedDelivery({ id: "msg_1" });
      const answers = await Promise.all(times(50, (at) => (at % 2 ? first : second).send(delivery)));
      for (const { status } of answers) expect([200, 409]).toContain(status);
      const done = answers.filter(({ status, headers }) => status === 200 && !headers["posthorn-duplicate"]);
      expect(done).toHaveLength(1);
      for (const process of [first, second]) {
        await expect
          .poll(async () => (await process.send(delivery)).headers["posthorn-duplicate"], { timeout: 20_000 })
          .toBe("true");
      }
      expect([...first.handled, ...second.handled]).toEqual(["msg_1"]);
      if (mode === "transactional") expect(await world.effects?.read()).toEqual(["msg_1"]);
    });

    test("what a process was handling when it was killed succeeds later", async () => {
      await using doomed = await start(true);
      await using other = await start();
      const delivery = await signedDelivery({ id: "msg_1" });
      const cutOff = expect(doomed.send(delivery)).rejects.toThrow();
      await doomed.handling;
      await doomed.kill();
      await cutOff;
      if (mode === "lease") {
        expect((await other.send(delivery)).status).toBe(409);
        await world.makeOlder(LEASE_MS + 1);
      }
      await expect.poll(async () => (await other.send(delivery)).status, { timeout: 20_000 }).toBe(200);
      expect(other.handled).toEqual(["msg_1"]);
      if (mode === "transactional") expect(await world.effects?.read()).toEqual(["msg_1"]);
    });
  });
}

const open = openPostgres(openPool, { transactions: true, processes: true });
processTests("PostgreSQL", open as () => Promise<StoreWorld>, "transactional");
processTests("SQLite", () => openSqliteWorld("libsql") as Promise<StoreWorld>, "transactional");
processTests("SQLite", () => openSqliteWorld("libsql") as Promise<StoreWorld>, "lease");

const program = findRedisServer() as string;

describe.skipIf(program === null)(`with a Redis server (${withoutRedis})`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer(program);
  });
  afterAll(() => server.close());

  processTests("Redis", () => openRedisWorld("ioredis", server.path) as Promise<StoreWorld>, "lease");
});
