// Sources that follow a second PostgreSQL server by logical replication.
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { type OwnPostgres, openOwnPostgres } from "../../../../tests/support/database/own-postgres.ts";
import { createDatabase, createPool, inTransaction } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { silentLogger } from "../observe/log.ts";
import type { SourceOptions } from "./options.ts";

let server: OwnPostgres;
beforeAll(async () => {
  server = await openOwnPostgres({ wal_level: "logical", max_slot_wal_keep_size: "1GB" });
});
afterAll(() => server.close());

const world = databasePerTest();
let shop: pg.Pool;
let source: SourceOptions;

beforeEach(async () => {
  const database = await createDatabase(server.connectionString);
  shop = createPool(database.connectionString);
  const slot = `shop_${Math.random().toString(36).slice(2)}`;
  onTestFinished(async () => {
    await eventually("the slot is dropped", async () => {
      await shop.query(
        "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1",
        [slot],
      );
      return true;
    });
    await shop.end();
    await database.drop();
  });
  await shop.query(`create table outbox (
    id bigint generated always as identity primary key,
    customer text,
    kind text not null default 'order.paid',
    about text,
    body json,
    live boolean not null default true
  )`);
  await shop.query("create publication posthorn_shop for table outbox with (publish = 'insert')");
  source = {
    name: "shop",
    kind: "replication",
    database: database.connectionString,
    table: "outbox",
    columns: { id: "id", tenant: "customer", type: "kind", subject: "about", data: "body" },
    messagePrefix: "posthorn",
    slot,
  };
});

const insert = (client: pg.Pool | pg.PoolClient, from: number, to: number) =>
  client.query(
    `insert into outbox (customer, body)
     select 'acme', json_build_object('n', n)
     from generate_series($1::integer, $2::integer) n`,
    [from, to],
  );

async function payloads(): Promise<string[]> {
  const { rows } = await world.pool.query<{ payload: Buffer }>(
    "select payload from posthorn.events order by id",
  );
  return rows.map(({ payload }) => String(payload));
}

const published = async () => (await payloads()).map((payload) => JSON.parse(payload).n as number);

async function publishedAre(count: number): Promise<number[]> {
  await eventually(`${count} events are published`, async () => {
    const [events = 0] = await world.countRows("events");
    return events >= count;
  });
  return await published();
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Opens an instance that follows the source, which begins with the rows after this. */
async function follow(options: Partial<SourceOptions> = {}) {
  const instance = await world.open({ sources: [{ ...source, ...options }] });
  const state = async () => (await instance.hooks.sources.list())[0];
  await eventually("the source is followed", async () => (await state())?.state === "running");
  return { ...instance, state };
}

test("rows are published at their commit, in the order of commits, and rolled back ones never", async () => {
  await insert(shop, 1, 1);
  const { state } = await follow();
  const client = await shop.connect();
  try {
    await client.query("begin");
    await insert(client, 3, 3);
    await insert(shop, 2, 2);
    expect(await publishedAre(1)).toEqual([2]);
    await client.query("commit");
    expect(await publishedAre(2)).toEqual([2, 3]);
    await client.query("begin");
    await insert(client, 4, 4);
    await client.query("rollback");
  } finally {
    client.release();
  }
  await shop.query(
    `insert into outbox (customer, kind, about, body) values ('acme', 'order.sent', 'order-5', '{"n":  5.0, "big": 12345678901234567890}')`,
  );
  await publishedAre(3);
  expect((await payloads())[2]).toBe('{"n":  5.0, "big": 12345678901234567890}');
  const { rows } = await world.pool.query(
    "select type, subject from posthorn.events order by id desc limit 1",
  );
  expect(rows).toEqual([{ type: "order.sent", subject: "order-5" }]);
  expect(await state()).toMatchObject({ events: 3, error: null, kind: "replication" });
});

test("updates, deletions and other tables publish nothing", async () => {
  await shop.query(
    "create table other (id integer); alter publication posthorn_shop set (publish = 'insert, update, delete, truncate')",
  );
  await shop.query(
    "alter publication posthorn_shop add table other; alter table other replica identity full",
  );
  await follow({ filter: { live: true } });
  await insert(shop, 1, 1);
  await shop.query("insert into other values (1); update other set id = 2; delete from other");
  await shop.query("update outbox set about = 'x'; delete from outbox; truncate other");
  await shop.query(`insert into outbox (customer, body, live) values ('acme', '{"n": 2}', false)`);
  await insert(shop, 3, 3);
  expect(await publishedAre(2)).toEqual([1, 3]);
});

test("a transaction of ten parts is published in parts, each row once", async () => {
  await follow();
  await insert(shop, 1, 5_000);
  expect(await publishedAre(5_000)).toEqual(numbers(1, 5_000));
});

test("messages are published without a table, transactional ones at their commit", async () => {
  const { state } = await follow({ table: undefined, columns: undefined });
  const emit = (client: pg.Pool | pg.PoolClient, content: string, isTransactional = true) =>
    client.query("select pg_logical_emit_message($1::boolean, 'posthorn', $2::text)", [
      isTransactional,
      content,
    ]);
  await shop.query("select pg_logical_emit_message(true, 'others', 'not for Posthorn')");
  await inTransaction(shop, async (tx) => {
    await emit(tx, '{"tenant": "acme", "type": "order.paid", "data": {"n": 1.0}, "subject": "order-1"}');
    await emit(tx, '{"tenant": "acme", "type": "order.paid", "data": {"n": 2}, "id": 7, "api_version": "2"}');
  });
  await emit(
    shop,
    '{"tenant": "acme", "type": "order.paid", "data": {"n": 2}, "id": "7", "api_version": "2"}',
  );
  await emit(shop, '{"tenant": "acme", "type": "order.paid", "data": {"n": 3}}', false);
  await shop.query("select pg_switch_wal()");
  expect(await publishedAre(3)).toEqual([1, 2, 3]);
  expect((await payloads())[0]).toBe('{"n": 1.0}');
  // no row is missing without the publication
  await shop.query("drop publication posthorn_shop");
  await eventually("the slot is measured", async () => typeof (await state())?.lagBytes === "number");
  await emit(shop, '{"tenant": "acme", "type": "order.paid", "data": {"n": 4}}');
  expect(await publishedAre(4)).toEqual([1, 2, 3, 4]);
  expect(await state()).toMatchObject({ state: "running" });
});

test("rows and messages that the catalogue does not accept, or that are too large, are rejected", async () => {
  const library = await world.open({ started: false });
  const schema = { properties: { n: { type: "integer" } } };
  await library.hooks.eventTypes.put("order.paid", { schema });
  const { hooks, state } = await follow();
  const sized = (bytes: number) => `to_json(repeat('x', ${bytes - 2}))`;
  const emit = (data: string) =>
    shop.query(
      `select pg_logical_emit_message(true, 'posthorn', '{"tenant": "acme", "type": "order.paid", "data": ' || $1 || '}')`,
      [data],
    );
  await shop.query(`insert into outbox (customer, body) values
    ('acme', '{"n":  "1"}'),
    ('acme', '{"n": 2}'),
    ('acme', ${sized(262_144)}),
    ('acme', ${sized(262_145)})`);
  await shop.query("insert into outbox (customer, kind, body) values ('acme', 'order.unknown', '5')");
  await emit('{"n": "6"}');
  await emit(`"${"x".repeat(262_142)}"`);
  await emit(`"${"x".repeat(262_143)}"`);
  await insert(shop, 9, 9);
  await eventually("all are stored", async () => (await payloads()).length === 9);
  const { data } = await hooks.events.list();
  expect(
    data.toReversed().map(({ rejection }) => rejection && `${rejection.code} ${rejection.pointer}`),
  ).toEqual([
    "invalid_event /data/n",
    null,
    null,
    "payload_too_large /data",
    "invalid_event /type",
    "invalid_event /data/n",
    null,
    "payload_too_large /data",
    null,
  ]);
  const stored = await payloads();
  expect(stored.map((payload) => payload.length)).toEqual([11, 8, 262_144, 4, 1, 10, 262_144, 4, 9]);
  expect(stored[0]).toBe('{"n":  "1"}');
  expect(await state()).toMatchObject({ state: "running", error: null, events: 9 });
});

test("a message that is not an event holds the source until it is skipped", async () => {
  const { state, hooks } = await follow();
  await shop.query(
    `select pg_logical_emit_message(true, 'posthorn', '{"tenant": "acme", "typ": "order.paid", "data": 1}')`,
  );
  await insert(shop, 1, 1);
  await eventually("the source is held", async () => (await state())?.state === "held");
  expect(await state()).toMatchObject({
    error: expect.stringContaining('no field "typ". Did you mean type?'),
  });
  expect(await published()).toEqual([]);
  await hooks.sources.skip("shop");
  expect(await publishedAre(1)).toEqual([1]);
});

test("a message of bytes that are no text holds the source until it is skipped", async () => {
  const { state, hooks } = await follow();
  await shop.query("select pg_logical_emit_message(true, 'posthorn', '\\xfffe0001'::bytea)");
  await eventually("the source is held", async () => (await state())?.state === "held");
  expect((await state())?.error).toMatch(/The message must be a JSON object/);
  await hooks.sources.skip("shop");
  await insert(shop, 1, 1);
  expect(await publishedAre(1)).toEqual([1]);
});

test("a message of more than 320 KB holds the source, also if it is larger than the memory for one", async () => {
  const { state, hooks } = await follow();
  const emit = (bytes: number) =>
    shop.query(
      `select pg_logical_emit_message(true, 'posthorn', rpad('{"tenant": "acme", "type": "order.paid", "data": {"n": 0}}', $1))`,
      [bytes],
    );
  await emit(327_680);
  expect(await publishedAre(1)).toEqual([0]);
  for (const bytes of [327_681, 20_000_000]) {
    await emit(bytes);
    await eventually("the source is held", async () =>
      (await state())?.error?.includes(`The message has ${bytes} bytes; the limit is 327680.`),
    );
    await hooks.sources.skip("shop");
  }
  await insert(shop, 1, 1);
  expect(await publishedAre(2)).toEqual([0, 1]);
});

test("a large column before the others is not published, and the filter and the type are those of its row", async () => {
  await shop.query(
    "drop table outbox; create table outbox (other text, body json, id bigint, live text, customer text, kind text, about text)",
  );
  await shop.query("alter publication posthorn_shop add table outbox");
  await follow({ filter: { live: "yes" } });
  await shop.query(`insert into outbox
    select repeat('x', 2000000), rows.body, rows.id, rows.live, 'acme', 'order.' || rows.id, null
    from (values
      ('{"n": 1}'::json, 1, 'yes'),
      ('{"n": 2}', 2, 'no'),
      ('{"n": 3}', 3, repeat('yes', 100000)),
      (to_json(repeat('x', 3000000)), 4, 'yes'),
      ('{"n": 5}', 5, 'yes')
    ) rows (body, id, live)`);
  await eventually("all are stored", async () => (await payloads()).length === 3);
  expect(await payloads()).toEqual(['{"n": 1}', "null", '{"n": 5}']);
  const { rows } = await world.pool.query("select type from posthorn.events order by id");
  expect(rows.map(({ type }) => type)).toEqual(["order.1", "order.4", "order.5"]);
});

test("several rows of one transaction can be skipped one after the other", async () => {
  const { state, hooks } = await follow();
  await shop.query(`insert into outbox (customer, kind, body) values
    ('acme', 'Order Paid', '{}'), ('acme', 'Order Sent', '{}'), ('acme', 'order.paid', '{"n": 3}')`);
  for (const row of ["1", "2"]) {
    await eventually(`row ${row} holds the source`, async () => (await state())?.heldRow === row);
    await hooks.sources.skip("shop");
  }
  expect(await publishedAre(1)).toEqual([3]);
});

test("rows that were polled before are not published again by replication", async () => {
  await insert(shop, 1, 3);
  await shop.query("alter table outbox add updated_at timestamptz not null default now()");
  await shop.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [source.slot]);
  await insert(shop, 4, 5);
  const { messagePrefix: _, slot: __, columns, ...shared } = source;
  const polling: SourceOptions = {
    ...shared,
    kind: "polling",
    columns: { ...(columns as NonNullable<typeof columns>), updatedAt: "updated_at" },
    intervalMs: 100,
    delayMs: 0,
  };
  const first = await world.open({ sources: [polling] });
  await publishedAre(5);
  await first.close();
  await follow();
  await insert(shop, 6, 6);
  expect(await publishedAre(6)).toEqual(numbers(1, 6));
});

test("a missing publication, table or column is reported with what to do, and the source goes on when it exists", async () => {
  await shop.query("drop publication posthorn_shop");
  const { hooks } = await world.open({ sources: [source] });
  const errorIs = (text: string) =>
    eventually(text, async () => (await hooks.sources.list())[0]?.error?.includes(text));
  await errorIs("create publication posthorn_shop for table public.outbox");
  await shop.query("create publication posthorn_shop with (publish = 'insert')");
  await errorIs("alter publication posthorn_shop add table public.outbox");
  await shop.query("alter publication posthorn_shop add table outbox");
  await eventually("it runs", async () => (await hooks.sources.list())[0]?.state === "running");
  await shop.query("alter table outbox rename column about to subject");
  await insert(shop, 1, 1);
  await errorIs('no column "about" of public.outbox; it has id, customer, kind, subject, body, live');
  await hooks.sources.skip("shop");
  await shop.query("alter table outbox rename column subject to about");
  await insert(shop, 2, 2);
  expect(await publishedAre(1)).toEqual([2]);
});

test.each([
  [
    "the publication was dropped",
    "drop publication posthorn_shop",
    /there is no publication "posthorn_shop": create publication posthorn_shop for table public.outbox/,
  ],
  [
    "the table was removed from the publication",
    "alter publication posthorn_shop drop table outbox",
    /alter publication posthorn_shop add table public.outbox/,
  ],
  [
    "the table was replaced by one that is not published",
    "alter table outbox rename to former; create table outbox (like former including all); alter publication posthorn_shop drop table former",
    /has no table public.outbox: alter publication/,
  ],
  [
    "the table was moved to another schema",
    "create schema archive; alter table outbox set schema archive",
    /has no table public.outbox/,
  ],
  [
    "inserts are no longer published",
    "alter publication posthorn_shop set (publish = 'update')",
    /does not publish inserts: alter publication posthorn_shop set \(publish = 'insert'\)/,
  ],
])("a source is lost while it is followed if %s", async (_, change, error) => {
  const { state } = await follow();
  await shop.query(change);
  await eventually("the source is lost", async () => (await state())?.state === "lost");
  expect((await state())?.error).toMatch(/^Rows may be missing, because /);
  expect((await state())?.error).toMatch(error);
});

test("a source whose publication lost its table while no process ran is lost until it is reset", async () => {
  const first = await follow();
  await insert(shop, 1, 1);
  await publishedAre(1);
  await first.close();
  await shop.query("alter publication posthorn_shop drop table outbox");
  const { hooks } = await world.open({ sources: [source] });
  const state = async () => (await hooks.sources.list())[0]?.state;
  await eventually("the source is lost", async () => (await state()) === "lost");
  await insert(shop, 2, 2);
  await shop.query("alter publication posthorn_shop add table outbox");
  await hooks.sources.reset("shop");
  await eventually("the source runs", async () => (await state()) === "running");
  await insert(shop, 3, 3);
  expect(await publishedAre(2)).toEqual([1, 3]);
});

test("the partitions of a table are published as the table, and the error says how", async () => {
  await shop.query(`drop table outbox;
    create table outbox (id bigint, customer text, kind text, about text, body json, live boolean) partition by list (id);
    create table part partition of outbox for values in (1);
    alter publication posthorn_shop add table outbox`);
  const { hooks } = await world.open({ sources: [source] });
  await eventually("the error says how", async () =>
    (await hooks.sources.list())[0]?.error?.includes(
      "alter publication posthorn_shop set (publish_via_partition_root = true)",
    ),
  );
  await shop.query("alter publication posthorn_shop set (publish_via_partition_root = true)");
  await eventually("it runs", async () => (await hooks.sources.list())[0]?.state === "running");
  await shop.query(`insert into outbox values (1, 'acme', 'order.paid', null, '{"n": 1}')`);
  expect(await publishedAre(1)).toEqual([1]);
});

test.each([
  ["was created again", "select pg_drop_replication_slot($1)"],
  ["was read by another client", "select pg_replication_slot_advance($1, pg_current_wal_lsn())"],
])("a source is lost if its slot %s while no process ran", async (_, statement) => {
  const first = await follow();
  await insert(shop, 1, 1);
  await publishedAre(1);
  await first.close();
  await insert(shop, 2, 2);
  await eventually("the slot is free", async () => {
    await shop.query(statement, [source.slot]);
    return true;
  });
  if (statement.includes("drop"))
    await shop.query("select pg_create_logical_replication_slot($1, 'pgoutput')", [source.slot]);
  const { hooks } = await world.open({ sources: [source] });
  const state = async () => (await hooks.sources.list())[0];
  await eventually("the source is lost", async () => (await state())?.state === "lost");
  expect((await state())?.error).toMatch(/created again, or another client has read it. Rows after/);
});

test("a source is lost if the server's log ends before the stored position", async () => {
  const first = await follow();
  await first.close();
  await world.pool.query("update posthorn.sources set position = 'FF/0'");
  const { hooks } = await world.open({ sources: [source] });
  const state = async () => (await hooks.sources.list())[0];
  await eventually("the source is lost", async () => (await state())?.state === "lost");
  expect((await state())?.error).toMatch(/log ends at .*, before the stored position FF\/0: it was restored/);
});

test("each row has one event although the server ends the replication again and again", async () => {
  await follow();
  let inserted = 0;
  for (const count of [500, 1_000, 1_500, 2_000]) {
    while (inserted < count) {
      await insert(shop, inserted + 1, inserted + 50);
      inserted += 50;
    }
    await shop.query(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = $1 and active_pid is not null",
      [source.slot],
    );
  }
  expect(await publishedAre(2_000)).toEqual(numbers(1, 2_000));
});

test("a slot that retains more than its limit is dropped with an error, and metrics show it", async () => {
  const errors: unknown[] = [];
  const logger = { ...silentLogger, error: (message: string) => errors.push(message) };
  const { hooks } = await world.open({ logger, sources: [{ ...source, maxLagBytes: 1_048_576 }] });
  const state = async () => (await hooks.sources.list())[0];
  await eventually("the source runs", async () => (await state())?.state === "running");
  await eventually("the lag is measured", async () => typeof (await state())?.lagBytes === "number");
  expect(await hooks.metrics()).toMatch(/webhook_source_running\{source="shop"\} 1\n/);
  // holds the source
  await shop.query("insert into outbox (customer, body) values (null, '1')");
  await eventually("the source is held", async () => (await state())?.state === "held");
  await shop.query(
    "create table filler as select repeat(md5(n::text), 50) as text from generate_series(1, 4000) n",
  );
  await eventually("the source is lost", async () => (await state())?.state === "lost");
  expect(await state()).toMatchObject({
    error: expect.stringMatching(/retained \d{7} bytes, more than its limit of 1048576, and was dropped/),
    lagBytes: null,
  });
  const slots = await shop.query("select from pg_replication_slots where slot_name = $1", [source.slot]);
  expect(slots.rows).toEqual([]);
  // logged after the state is stored
  await expect.poll(() => errors.join()).toContain('continue with "posthorn sources reset shop"');
  await eventually("the metrics show it", async () =>
    /webhook_source_running\{source="shop"\} 0\n/.test(await hooks.metrics()),
  );
});

test("a source that was removed from the configuration can be deleted", async () => {
  const first = await follow();
  await expect(first.hooks.sources.delete("shop")).rejects.toMatchObject({ code: "source_not_stopped" });
  await first.close();
  const { hooks, advance } = await world.open();
  await advance(61_000);
  await hooks.sources.delete("shop");
  expect(await hooks.sources.list()).toEqual([]);
  await expect(hooks.sources.delete("shop")).rejects.toMatchObject({ code: "source_not_found" });
});

test("a source whose slot was dropped is lost until it is reset", async () => {
  const first = await follow();
  await insert(shop, 1, 1);
  await publishedAre(1);
  await first.close();
  await eventually("the slot is free", async () => {
    await shop.query("select pg_drop_replication_slot($1)", [source.slot]);
    return true;
  });
  await insert(shop, 2, 2);
  const { hooks } = await world.open({ sources: [source] });
  const state = async () => (await hooks.sources.list())[0];
  await eventually("the source is lost", async () => (await state())?.state === "lost");
  expect((await state())?.error).toMatch(
    /replication slot "shop_\w+" does not exist, so rows after .* may be missing/,
  );
  await hooks.sources.reset("shop");
  await eventually("the source runs", async () => (await state())?.state === "running");
  await insert(shop, 3, 3);
  expect(await publishedAre(2)).toEqual([1, 3]);
  await expect(hooks.sources.reset("shop")).rejects.toMatchObject({ code: "source_not_stopped" });
});
