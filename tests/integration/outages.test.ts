// The database becomes unavailable under load: the process recovers, reports not ready meanwhile, loses nothing it
// acknowledged and duplicates nothing. The chaos test adds restarts, resets and partitions.
import type pg from "pg";
import type { Posthorn } from "posthorn";
import { describe, expect, type TestContext, test } from "vitest";
import { type ChaosProxy, startChaosProxy } from "../support/database/chaos-proxy.ts";
import { openOwnPostgres } from "../support/database/own-postgres.ts";
import { createMigratedDatabase, createPool, lockWaits } from "../support/database/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { isQuick } from "../support/matrix.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { expectDelivered, startTestReceiver, type TestReceiver } from "../support/servers/test-receiver.ts";
import { createPublishers, type Publishers } from "./steady-publisher.ts";

const order = { tenant: "acme", type: "order.paid", data: 1 };

describe.concurrent("an outage under load", () => {
  test("every connection terminated, five times", async (context) => {
    const world = await openWorld(context);
    const { pool, hooks, publishers } = world;
    publishers.start();
    for (let strike = 1; strike <= 5; strike += 1) {
      await publishers.more(25);
      await pool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
    }
    await publishers.more(25);
    await becomes(hooks, { ready: true });
    await expectAllDelivered(world);
  });

  test.skipIf(isQuick).for<[what: string, begin: Step, end: Step, ownsServer: boolean]>([
    ["read-only", ({ pool }) => setReadOnly(pool, "on"), ({ pool }) => setReadOnly(pool, "off"), true],
    [
      "behind a network that drops everything",
      ({ proxy }) => proxy.blackhole(),
      ({ proxy }) => proxy.heal(),
      false,
    ],
  ])(
    "%s for longer than publish waits: publish is rejected, and attempts in flight are recorded afterwards",
    async ([, begin, end, ownsServer], context) => {
      const world = await openWorld(context, ownsServer);
      const { hooks, receiver, publishers } = world;
      publishers.start();
      await publishers.more(50);
      receiver.hold = () => true;
      const already = receiver.arrivals.length;
      await receiver.until("requests in flight", () => receiver.arrivals.length >= already + 5);
      await begin(world);
      receiver.release();
      const asked = performance.now();
      await expect(hooks.publish(order)).rejects.toMatchObject({ code: "database_unavailable" });
      expect(performance.now() - asked).toBeGreaterThan(4_500);
      await becomes(hooks, { ready: false });

      await end(world);
      await becomes(hooks, { ready: true });
      await publishers.more(30);
      await expectAllDelivered(world);
    },
  );
});

describe.concurrent("a reply that is lost after the statement was executed", () => {
  // the content of the request: the name of a prepared statement, or its text
  const statements = {
    write: "posthorn write",
    ingest: "posthorn ingest",
    fetch: "posthorn fetch",
    settle: "posthorn settle",
    claim: "posthorn claim lanes",
    survey: "posthorn survey lanes",
    relay: "posthorn waiting events",
    "known keys": "posthorn known keys",
    renewal: "set lease_expires_at =",
    "look at the others": "sessionGone",
  };

  test.skipIf(isQuick)(`of ${Object.keys(statements).join(", ")}, under load`, async (context) => {
    const world = await openWorld(context);
    const { hooks, publishers, proxy } = world;
    publishers.start();
    const lost = Promise.all(Object.values(statements).map((text) => proxy.loseNextReply(text)));
    let areAllLost = false;
    void lost.then(() => {
      areAllLost = true;
    });
    while (!areAllLost) await publishers.burst(120);
    await becomes(hooks, { ready: true });
    await publishers.more(10);
    await expectAllDelivered(world);
  });

  test("of a publish without a key: it succeeds, and there is one event", async (context) => {
    const world = await openWorld(context);
    const lost = world.proxy.loseNextReply("posthorn ingest");
    const published = await world.hooks.publish(order);
    await lost;
    expect(published.duplicate).toBe(false);
    await expectOneEvent(world, published);
  });

  test("of the caller's own commit: publishing again with the key returns the first event", async (context) => {
    const world = await openWorld(context);
    const { hooks, proxy } = world;
    const pool = createPool(proxy.connectionString, { max: 1 });
    pool.on("connect", (client) => client.on("error", () => {}));
    const publishAndCommit = async () => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        const published = await hooks.publish({ ...order, idempotencyKey: "order-1" }, { tx: client });
        await client.query("commit -- of the caller");
        return published;
      } finally {
        client.release(true);
      }
    };
    const lost = proxy.loseNextReply("commit -- of the caller");
    await expect(publishAndCommit()).rejects.toThrow();
    await lost;
    const again = await publishAndCommit();
    expect(again.duplicate).toBe(true);
    await expectOneEvent(world, again);
  });

  test.skipIf(isQuick)(
    "deliveries claimed by a fetch that reaches the server after its connection was cut are sent",
    async (context) => {
      const world = await openWorld(context);
      const { pool, hooks, receiver, publishers, proxy } = world;
      const cut = proxy.delayNext("posthorn fetch");
      await publishers.burst(120); // more than lanes take into memory: the rest has to be fetched
      const deliver = await cut;
      const ids = [...publishers.acknowledged.values()];
      await receiver.until("the burst", () => ids.every((id) => receiver.eventsAt("/1").has(id)));
      await becomes(hooks, { ready: true });
      // queued without notifying the worker, so that the late fetch is the first to see it
      const { rows } = await pool.query<{ id: string }>(`
        with late as (
          insert into posthorn.events (id, tenant, type, api_version, payload)
          values (posthorn.uuidv7(now()), 'acme', 'order.paid', '1', '"late"')
          returning id
        )
        insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
        select posthorn.uuidv7(now()), late.id, e.id, now(), now()
        from late, posthorn.endpoints e
        where e.url like '%/1'
        returning 'evt_' || event_id as id`);
      deliver();
      await receiver.until("the late event", () => receiver.eventsAt("/1").has(rows[0]?.id as string));
      await expectAllDelivered(world);
    },
  );

  test.skipIf(isQuick).for([
    ["without a key", 2, "lock table posthorn.events in share mode", order],
    // for a key a statement waits for 200 ms only, so that two rarely wait at once
    [
      "with a key",
      1,
      "select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '2'::text, idempotency_key => 'order-1')",
      { ...order, idempotencyKey: "order-1" },
    ],
  ] as const)(
    "a publish %s that commits long after its connection was cut is acknowledged and delivered once",
    async ([, waiting, lock, input], context) => {
      const world = await openWorld(context);
      const { pool, hooks, proxy } = world;
      const holder = await pool.connect();
      await holder.query("begin");
      await holder.query(lock);
      const cut = proxy.cutAtNext("posthorn ingest");
      const publishing = hooks.publish(input);
      await cut;
      // the statement waits for the lock without a client, the client has noticed and asks a second time
      await lockWaits(pool, waiting);
      await becomes(hooks, { ready: true });
      await holder.query("rollback");
      holder.release();
      await expectOneEvent(world, await publishing);
    },
  );
});

interface World {
  /** Connects to the database without the proxy. */
  readonly pool: pg.Pool;
  readonly proxy: ChaosProxy;
  readonly receiver: TestReceiver;
  readonly hooks: Posthorn;
  readonly publishers: Publishers;
}

type Step = (world: World) => unknown;

/** An instance on a database behind a proxy, and two endpoints. */
async function openWorld(context: TestContext, ownsServer = false): Promise<World> {
  const { onTestFinished } = context;
  const { connectionString, close } = ownsServer ? await openOwnPostgres() : await openSharedDatabase();
  onTestFinished(close);
  const pool = createPool(connectionString);
  onTestFinished(() => pool.end());
  const proxy = await startChaosProxy(connectionString);
  onTestFinished(() => proxy.close());
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  receiver.answerAfterMs = () => 2 + Math.random() * 10;
  const endpoints = ["/1", "/2"].map((path) => ({ url: receiver.url + path, events: ["*"] }));
  const { open } = await openWorkerWorld(context, endpoints, {
    database: proxy.connectionString,
    retryPolicy: "100ms,200ms,400ms,1s,1s,1s",
  });
  const hooks = await open("all");
  return { pool, proxy, receiver, hooks, publishers: createPublishers(hooks) };
}

async function openSharedDatabase() {
  const { connectionString, drop } = await createMigratedDatabase();
  return { connectionString, close: drop };
}

async function becomes(hooks: Posthorn, { ready }: { ready: boolean }): Promise<void> {
  await eventually(`health says ready: ${ready}`, async () => (await hooks.health()).ready === ready);
}

async function expectOneEvent(world: World, { id }: { readonly id: string }): Promise<void> {
  const { pool, receiver } = world;
  await receiver.until("the delivery", () => receiver.eventsAt("/1").has(id));
  const { rows } = await pool.query("select count(*)::int as events from posthorn.events");
  expect(rows).toEqual([{ events: 1 }]);
  await expectAllDelivered(world);
}

async function expectAllDelivered({ pool, receiver, publishers }: World): Promise<void> {
  await publishers.stop();
  const { acknowledged } = publishers;
  await expectDelivered(pool, receiver, ["/1", "/2"], acknowledged.values());
  const keys = await pool.query<{ key: string; id: string }>(
    "select key, 'evt_' || event_id as id from posthorn.idempotency_keys where key like 'key-%'",
  );
  expect(new Map(keys.rows.map(({ key, id }) => [key, id]))).toEqual(acknowledged);
  const { rows } = await pool.query(
    "select payload from posthorn.events group by payload having count(*) > 1",
  );
  expect(rows).toEqual([]);
}

async function setReadOnly(pool: pg.Pool, value: "on" | "off"): Promise<void> {
  await pool.query(`alter system set default_transaction_read_only = ${value}`);
  await pool.query("select pg_reload_conf()");
}
