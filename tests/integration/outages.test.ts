// The database goes away in every way it can, under load: the process goes on by itself, says so meanwhile, loses
// nothing it acknowledged and doubles nothing.
import { randomBytes } from "node:crypto";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { describe, expect, type TestContext, test } from "vitest";
import { audit, nothingOwed } from "../support/audit.ts";
import { type ChaosProxy, startChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { isQuick } from "../support/matrix.ts";
import { type OwnPostgres, openOwnPostgres, queryOnce } from "../support/own-postgres.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { publishSteadily, type SteadyPublisher } from "../support/steady-publisher.ts";
import { startTestReceiver, type TestReceiver } from "../support/test-receiver.ts";

const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;
const untouched = {
  unknown: 0,
  duplicates: 0,
  unexplained: [],
  unrecorded: [],
  misnumbered: [],
  unfinished: [],
};

describe.concurrent("an outage under load", () => {
  test.skipIf(isQuick)(
    "PostgreSQL stopped without a goodbye and started again, four times",
    async (context) => {
      const postgres = await openOwnPostgres();
      const { database, hooks, receiver, publisher } = await openWorld(context, { postgres });
      for (let restart = 1; restart <= 4; restart += 1) {
        await publisher.more(30);
        await postgres.stopImmediately();
        await becomes(hooks, { ready: false });
        await postgres.start();
        await becomes(hooks, { ready: true });
      }
      await publisher.more(30);
      await expectAllDelivered(database, receiver, publisher);
    },
  );

  test("every connection terminated, twelve times", async (context) => {
    const { database, hooks, receiver, publisher } = await openWorld(context);
    for (let strike = 1; strike <= 12; strike += 1) {
      await publisher.more(25);
      await database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
    }
    await publisher.more(25);
    await becomes(hooks, { ready: true });
    await expectAllDelivered(database, receiver, publisher);
  });

  test.skipIf(isQuick)(
    "read-only for longer than a publisher is patient; what was in flight is written down afterwards",
    async (context) => {
      const postgres = await openOwnPostgres();
      const { database, hooks, receiver, publisher } = await openWorld(context, { postgres });
      await publisher.more(50);
      receiver.hold = () => true;
      const already = receiver.arrivals.length;
      await receiver.until("requests in flight", () => receiver.arrivals.length >= already + 5);
      await setReadOnly(postgres, "on");
      receiver.release();
      await becomes(hooks, { ready: false });

      const asked = performance.now();
      await expect(hooks.publish({ tenant: "acme", type: "order.paid", data: 0 })).rejects.toMatchObject({
        code: "database_unavailable",
      });
      const waited = performance.now() - asked;
      expect(waited).toBeGreaterThan(4_500);
      expect(waited).toBeLessThan(8_000);
      expect(await hooks.health()).toMatchObject({ ready: false });

      await setReadOnly(postgres, "off");
      await becomes(hooks, { ready: true });
      await publisher.more(30);
      await expectAllDelivered(database, receiver, publisher);
    },
  );

  test.skipIf(isQuick)("connections reset by the network, fifteen times", async (context) => {
    const { database, hooks, receiver, publisher, proxy } = await openWorld(context);
    for (let strike = 1; strike <= 15; strike += 1) {
      await publisher.more(20);
      proxy.cut();
    }
    await publisher.more(20);
    await becomes(hooks, { ready: true });
    await expectAllDelivered(database, receiver, publisher);
  });

  test.skipIf(isQuick)(
    "a network that swallows everything: publishers are told in time, and new connections are made by themselves",
    async (context) => {
      const { database, hooks, receiver, publisher, proxy } = await openWorld(context);
      await publisher.more(50);
      proxy.blackhole();
      const asked = performance.now();
      await expect(hooks.publish({ tenant: "acme", type: "order.paid", data: 0 })).rejects.toMatchObject({
        code: "database_unavailable",
      });
      expect(performance.now() - asked).toBeLessThan(8_000);
      await becomes(hooks, { ready: false });

      proxy.heal();
      await becomes(hooks, { ready: true });
      await publisher.more(30);
      await expectAllDelivered(database, receiver, publisher);
    },
  );
});

describe.concurrent("a reply that is lost after the statement was carried out", () => {
  // what the request holds: the name of a prepared statement, or text where it is not prepared
  const statements = {
    ingest: "posthorn ingest",
    fetch: "posthorn fetch",
    settle: "posthorn settle",
    acquire: "posthorn acquire lanes",
    survey: "posthorn survey lanes",
    relay: "posthorn waiting events",
    "known keys": "posthorn known keys",
    renewal: "set lease_expires_at =",
    "look at the others": "sessionGone",
  };

  test.skipIf(isQuick)(
    `of ${Object.keys(statements).join(", ")}; each twice, under load`,
    async (context) => {
      const { database, hooks, receiver, publisher, proxy } = await openWorld(context);
      for (const text of [...Object.values(statements), ...Object.values(statements)]) {
        const lost = proxy.loseNextReply(text);
        await publisher.burst(120);
        await lost;
      }
      await becomes(hooks, { ready: true });
      await publisher.more(10);
      await expectAllDelivered(database, receiver, publisher);
    },
  );

  test("of a publish without a key: it is answered as a success, and it is one event", async (context) => {
    const { database, hooks, receiver, proxy } = await openWorld(context, { idle: true });
    const lost = proxy.loseNextReply("posthorn ingest");
    const published = await hooks.publish({ tenant: "acme", type: "order.paid", data: 1 });
    await lost;
    expect(published.duplicate).toBe(false);
    await receiver.until("the delivery", () => receiver.eventsAt("/1").has(published.id));
    expect(await database.query("select count(*)::int as events from posthorn.events")).toEqual([
      { events: 1 },
    ]);
    await expectAllDelivered(database, receiver);
  });

  test("of the caller's own commit: publishing again with the key gives the first event", async (context) => {
    const { database, hooks, receiver, proxy } = await openWorld(context, { idle: true });
    const pool = createPool(proxy.connectionString, { max: 1 });
    pool.on("connect", (client) => client.on("error", () => {}));
    const input = { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "order-1" };
    const publishAndCommit = async () => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        const published = await hooks.publish(input, { tx: client });
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
    await receiver.until("the delivery", () => receiver.eventsAt("/1").has(again.id));
    expect(await database.query("select count(*)::int as events from posthorn.events")).toEqual([
      { events: 1 },
    ]);
    await expectAllDelivered(database, receiver);
  });

  test.skipIf(isQuick)(
    "a fetch that reaches the server long after its connection was cut: what it claims is found and sent",
    async (context) => {
      const { database, hooks, receiver, publisher, proxy } = await openWorld(context, { idle: true });
      const cut = proxy.delayNext("posthorn fetch");
      await publisher.burst(120); // more than lanes take into memory: the rest has to be fetched
      const deliver = await cut;
      const ids = [...publisher.acknowledged.values()];
      await receiver.until("the burst", () => ids.every((id) => receiver.eventsAt("/1").has(id)));
      await becomes(hooks, { ready: true });
      // owed behind the worker's back, so that the late fetch is the first to see it
      const [row] = await database.query<{ id: string }>(`
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
      await receiver.until("it", () => receiver.eventsAt("/1").has(row?.id as string), 15_000);
      await expectAllDelivered(database, receiver, publisher);
    },
  );

  for (const [what, waiting, lock, input] of [
    [
      "without a key",
      2,
      "lock table posthorn.events in share mode",
      { tenant: "acme", type: "order.paid", data: 1 },
    ],
    // for a key a statement waits for 200 ms only, so that two rarely wait at once
    [
      "with a key",
      1,
      "select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '2'::text, idempotency_key => 'order-1')",
      { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "order-1" },
    ],
  ] as const) {
    test.skipIf(isQuick)(
      `a publish ${what} that commits long after its connection was cut is acknowledged and delivered once`,
      async (context) => {
        const { database, hooks, receiver, proxy } = await openWorld(context, { idle: true });
        const holder = await createPool(database.connectionString, { max: 1 }).connect();
        await holder.query("begin");
        await holder.query(lock);
        const cut = proxy.cutAtNext("posthorn ingest");
        const publishing = hooks.publish(input);
        await cut;
        // the statement waits for the lock without a client, the client has noticed and asks a second time
        await eventually("statements wait", async () => (await waitingForLocks(database)) >= waiting);
        await becomes(hooks, { ready: true });
        await holder.query("rollback");
        holder.release(true);
        const published = await publishing;
        await receiver.until("the delivery", () => receiver.eventsAt("/1").has(published.id), 10_000);
        expect(await database.query("select count(*)::int as events from posthorn.events")).toEqual([
          { events: 1 },
        ]);
        await expectAllDelivered(database, receiver);
      },
    );
  }
});

interface World {
  readonly database: Pick<OwnPostgres, "connectionString" | "query">;
  readonly proxy: ChaosProxy;
  readonly receiver: TestReceiver;
  readonly hooks: Posthorn;
  readonly publisher: SteadyPublisher;
}

/** A database behind a proxy, two endpoints, and a publisher that has begun. `postgres` is closed with it. */
async function openWorld(
  { onTestFinished }: TestContext,
  { idle = false, postgres }: { idle?: boolean; postgres?: OwnPostgres } = {},
): Promise<World> {
  const database = postgres ?? (await openSharedDatabase());
  onTestFinished(() => database.close());
  const proxy = await startChaosProxy(database.connectionString);
  onTestFinished(() => proxy.close());
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  receiver.answerAfterMs = () => 2 + Math.random() * 10;
  const hooks = createPosthorn(optionsFor(proxy.connectionString));
  await hooks.migrate();
  await hooks.tenants.upsert("acme", {});
  for (const path of ["/1", "/2"]) {
    await hooks.endpoints.create("acme", { url: receiver.url + path, events: ["*"] });
  }
  await hooks.start();
  onTestFinished(() => hooks.stop({ graceMs: 1_000 }));
  const publisher = publishSteadily(hooks, "acme", { idle });
  onTestFinished(() => publisher.abandon());
  return { database, proxy, receiver, hooks, publisher };
}

const optionsFor = (connectionString: string): PosthornOptions => ({
  database: connectionString,
  encryptionKeys,
  allowHttp: true,
  allowCidrs: ["127.0.0.0/8"],
  retryPolicy: "100ms,200ms,400ms,1s,1s,1s",
});

async function openSharedDatabase(): Promise<Omit<OwnPostgres, "start" | "stopImmediately">> {
  const { connectionString, drop } = await createMigratedDatabase();
  return { connectionString, query: (sql) => queryOnce(connectionString, sql), close: drop };
}

async function becomes(hooks: Posthorn, { ready }: { ready: boolean }): Promise<void> {
  await eventually(`health says ready: ${ready}`, async () => (await hooks.health()).ready === ready);
}

async function expectAllDelivered(
  { connectionString }: { readonly connectionString: string },
  receiver: TestReceiver,
  publisher?: SteadyPublisher,
): Promise<void> {
  await publisher?.stop();
  const acknowledged = publisher?.acknowledged ?? new Map<string, string>();
  const ids = [...acknowledged.values()];
  await receiver.until("every acknowledged event at both endpoints", () =>
    ["/1", "/2"].every((path) => ids.every((id) => receiver.eventsAt(path).has(id))),
  );
  const pool = createPool(connectionString);
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject(untouched);
  const keys = await pool.query<{ key: string; id: string }>(
    "select key, 'evt_' || event_id as id from posthorn.idempotency_keys where key like 'key-%'",
  );
  expect(new Map(keys.rows.map(({ key, id }) => [key, id]))).toEqual(acknowledged);
  const { rows } = await pool.query(
    "select payload from posthorn.events group by payload having count(*) > 1",
  );
  expect(rows).toEqual([]);
  await pool.end();
}

async function setReadOnly(postgres: OwnPostgres, value: "on" | "off"): Promise<void> {
  await postgres.query(`alter system set default_transaction_read_only = ${value}`);
  await postgres.query("select pg_reload_conf()");
}

async function waitingForLocks(database: World["database"]): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(
    "select count(*)::integer as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  );
  return row?.waiting ?? 0;
}
