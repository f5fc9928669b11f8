// Sources that poll a table of another database.
import type pg from "pg";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  databasePerTest,
  newEndpoint,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { createDatabase, createPool } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { event } from "../catalogue/declared-types.ts";
import { listSources } from "../storage/queries/sources/sources.ts";
import type { TestInstance } from "../testing/index.ts";
import type { SourceOptions } from "./options.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();
let shop: pg.Pool;
let source: SourceOptions;

beforeEach(async () => {
  const database = await createDatabase();
  shop = createPool(database.connectionString);
  onTestFinished(async () => {
    await shop.end();
    await database.drop();
  });
  await shop.query(`create table outbox (
    id bigint generated always as identity primary key,
    customer text,
    kind text not null default 'order.paid',
    about text,
    body jsonb,
    status text not null default 'ready',
    updated_at timestamptz not null default now()
  )`);
  source = {
    name: "shop",
    kind: "polling",
    database: database.connectionString,
    table: "outbox",
    columns: {
      id: "id",
      tenant: "customer",
      type: "kind",
      subject: "about",
      data: "body",
      updatedAt: "updated_at",
    },
    intervalMs: 100,
    delayMs: 0,
  };
});

const insert = (client: pg.Pool | pg.PoolClient, from: number, to: number) =>
  client.query(
    `insert into outbox (customer, body, about)
     select 'acme', jsonb_build_object('n', n), 'subject-' || n % 3
     from generate_series($1::integer, $2::integer) n`,
    [from, to],
  );

async function published(): Promise<(number | string)[]> {
  const { rows } = await world.pool.query<{ payload: Buffer }>(
    "select payload from posthorn.events order by id",
  );
  return rows.map(({ payload }) => JSON.parse(String(payload)).n);
}

async function publishedAre(count: number): Promise<(number | string)[]> {
  await eventually(`${count} events are published`, async () => (await published()).length >= count);
  return await published();
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function state({ hooks }: TestInstance) {
  return (await listSources(hooks.db))[0];
}

test("every row becomes one event, those that exist already included, in the order of the rows", async () => {
  await insert(shop, 1, 700);
  const instance = await world.open({ sources: [source] });
  expect(await publishedAre(700)).toEqual(numbers(1, 700));
  await insert(shop, 701, 703);
  expect(await publishedAre(703)).toEqual(numbers(1, 703));
  const { rows } = await world.pool.query("select * from posthorn.events order by id limit 1");
  expect(rows[0]).toMatchObject({ tenant: "acme", type: "order.paid", subject: "subject-1", sequence: "1" });
  expect(await state(instance)).toMatchObject({
    name: "shop",
    kind: "polling",
    state: "running",
    events: 703,
  });
});

test("a transaction that commits after later rows were written is not skipped", async () => {
  await world.open({ sources: [source] });
  await insert(shop, 1, 1);
  await publishedAre(1);
  const late = await shop.connect();
  try {
    await late.query("begin");
    await insert(late, 2, 2);
    await insert(shop, 3, 3);
    // the later row waits, because it would move the cursor past the earlier one
    const { rows } = await shop.query("select now()::text as now");
    await eventually("another poll has passed", async () => {
      const [row] = (await world.pool.query("select seen_at > $1 as is from posthorn.sources", [rows[0].now]))
        .rows;
      return row?.is;
    });
    expect(await published()).toEqual([1]);
    await late.query("commit");
  } finally {
    late.release();
  }
  expect(await publishedAre(3)).toEqual([1, 2, 3]);
});

test("a row that is written again has one event", async () => {
  await insert(shop, 1, 2);
  await world.open({ sources: [source] });
  await publishedAre(2);
  await shop.query("update outbox set updated_at = now(), body = '{\"n\": 9}' where id = 1");
  await insert(shop, 3, 3);
  expect(await publishedAre(3)).toEqual([1, 2, 3]);
});

test("rows that the filter excludes are passed over", async () => {
  await insert(shop, 1, 1_000);
  await shop.query("update outbox set status = 'draft' where id <= 999");
  await world.open({ sources: [{ ...source, filter: { status: ["ready", "sent"] } }] });
  expect(await publishedAre(1)).toEqual([1_000]);
});

test("the filter compares texts, numbers and booleans as replication does", async () => {
  await shop.query(
    "alter table outbox add live boolean, add shard integer, add code char(5), alter status drop not null",
  );
  await insert(shop, 1, 6);
  await shop.query("update outbox set live = true, shard = 3, code = 'ab'");
  await shop.query(`update outbox set live = false where id = 1;
    update outbox set shard = 30 where id = 2;
    update outbox set status = null where id = 3;
    update outbox set status = 'draft' where id = 4;
    update outbox set live = null where id = 5`);
  const filter = { status: ["ready", "sent"], live: true, shard: 3, code: "ab   " };
  await world.open({ sources: [{ ...source, filter }] });
  expect(await publishedAre(1)).toEqual([6]);
});

/** A row whose data, the text of a JSON string, has this many bytes. */
const insertSized = (bytes: number) =>
  shop.query(
    "insert into outbox (customer, body, about) values ('acme', to_jsonb(repeat('x', $1 - 2)), 'a')",
    [bytes],
  );

test("data at the limit is published, and a row one byte larger is rejected without being read", async () => {
  await insertSized(262_144);
  await insertSized(262_145);
  await insert(shop, 3, 3);
  const { hooks, ...instance } = await world.open({ sources: [source] });
  await eventually("all are stored", async () => (await hooks.events.list()).data.length === 3);
  const [row] = (
    await world.pool.query("select octet_length(payload) as bytes from posthorn.events order by id")
  ).rows;
  expect(row.bytes).toBe(262_144);
  const { data: rejected } = await hooks.events.list({ state: "rejected" });
  expect(rejected).toMatchObject([
    {
      type: "order.paid",
      subject: "a",
      sequence: 2,
      rejection: {
        code: "payload_too_large",
        pointer: "/data",
        message: expect.stringContaining("262145 bytes; the limit is 262144"),
      },
    },
  ]);
  const id = rejected[0]?.id as string;
  expect(String((await hooks.events.get(id)).payload)).toBe("null");
  expect(await state({ hooks, ...instance } as TestInstance)).toMatchObject({ state: "running", events: 3 });
  expect(await hooks.metrics()).toContain('webhook_events_rejected_total{code="payload_too_large"} 1');
  await expect(hooks.events.release(id)).rejects.toMatchObject({
    code: "payload_too_large",
    message: expect.stringContaining("nothing to deliver"),
  });
  await hooks.events.discard(id);
  expect((await hooks.events.list({ state: "rejected" })).data).toEqual([]);
});

test("the data of a row that the filter excludes is not read", async () => {
  await insertSized(300_000);
  await shop.query("update outbox set status = 'draft'");
  await insert(shop, 2, 2);
  const { hooks } = await world.open({ sources: [{ ...source, filter: { status: "ready" } }] });
  expect(await publishedAre(1)).toEqual([2]);
  expect((await hooks.events.list({ state: "rejected" })).data).toEqual([]);
});

test("a poll that ends at its limit of bytes is continued by the next", async () => {
  await shop.query(
    `insert into outbox (customer, body)
     select 'acme', jsonb_build_object('n', n, 'text', repeat('x', 200000))
     from generate_series(1, 120) n`,
  );
  await world.open({ sources: [source] });
  expect(await publishedAre(120)).toEqual(numbers(1, 120));
});

test("an over-long tenant holds the source, and an over-long id stops it, without being read", async () => {
  await shop.query(
    "alter table outbox drop constraint outbox_pkey, alter id drop identity; alter table outbox alter id type text",
  );
  await shop.query(
    "insert into outbox (id, customer, body) values ('1', repeat('x', 6000000), '{}'), (repeat('x', 1001), 'acme', '{}')",
  );
  const instance = await world.open({ sources: [source] });
  await eventually("row 1 holds the source", async () => (await state(instance))?.heldRow === "1");
  await instance.hooks.sources.skip("shop");
  await eventually("the id is reported", async () =>
    (await state(instance))?.error?.includes("has more than 1000 characters"),
  );
  await shop.query("update outbox set id = repeat('x', 1000) where id <> '1'");
  await eventually(
    "the row holds the source",
    async () => (await state(instance))?.heldRow === "x".repeat(1_000),
  );
});

test("a row that cannot be published holds the source until it is corrected", async () => {
  await insert(shop, 1, 3);
  await shop.query("update outbox set customer = null where id = 2");
  const instance = await world.open({ sources: [source] });
  await eventually("the source is held", async () => (await state(instance))?.state === "held");
  expect(await state(instance)).toMatchObject({
    heldRow: "2",
    error: expect.stringContaining("tenant must be"),
  });
  expect(await published()).toEqual([1]);
  await shop.query("update outbox set customer = 'acme' where id = 2");
  expect(await publishedAre(3)).toEqual([1, 2, 3]);
  expect(await state(instance)).toMatchObject({ state: "running", error: null, heldRow: null });
});

const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };

test("rows that the catalogue does not accept are rejected, and the source goes on", async () => {
  await insert(shop, 1, 4);
  await shop.query(`update outbox set body = '{"n": "2"}' where id = 2;
    update outbox set kind = 'order.unknown' where id = 3`);
  const { hooks } = await world.open({ started: false });
  await hooks.eventTypes.put("order.paid", { schema });
  const instance = await world.open({ sources: [source] });
  const { path } = await newEndpoint(instance, receiver);
  expect(await publishedAre(4)).toEqual([1, "2", 3, 4]);
  const { data: rejected } = await hooks.events.list({ state: "rejected" });
  expect(rejected.map(({ type, subject, rejection }) => ({ type, subject, ...rejection }))).toMatchObject([
    {
      type: "order.unknown",
      subject: "subject-0",
      code: "invalid_event",
      pointer: "/type",
      message: 'The catalogue has no type "order.unknown". Expected one of: order.paid.',
    },
    {
      type: "order.paid",
      subject: "subject-2",
      code: "invalid_event",
      pointer: "/data/n",
      message: expect.stringMatching(/must be integer.*schema of order.paid, version 1/),
    },
  ]);
  expect(await state(instance)).toMatchObject({ state: "running", error: null, heldRow: null, events: 4 });
  const metrics = await instance.hooks.metrics();
  expect(metrics).toContain('webhook_events_rejected_total{code="invalid_event"} 2');
  expect(metrics).toContain("webhook_rejected_events 2");
  const [unknown, wrong] = rejected.map(({ id }) => id) as [string, string];
  await instance.hooks.events.release(wrong);
  await instance.hooks.events.discard(unknown);
  await instance.settle();
  const received = receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)));
  expect(received.find(({ id }) => id === wrong)).toMatchObject({ data: { n: "2" } });
  expect(received.filter(({ id }) => id === unknown)).toEqual([]);
  expect((await hooks.events.list({ state: "rejected" })).data).toEqual([]);
});

test("a rejected row that is written again has one event", async () => {
  await shop.query(`insert into outbox (customer, body) values ('acme', '{"n": "1"}')`);
  const instance = await world.open({ started: false });
  await instance.hooks.eventTypes.put("order.paid", { schema });
  await world.open({ sources: [source] });
  await publishedAre(1);
  await shop.query("update outbox set updated_at = now()");
  await insert(shop, 2, 2);
  expect(await publishedAre(2)).toEqual(["1", 2]);
  expect((await instance.hooks.events.list({ state: "rejected" })).data).toHaveLength(1);
});

test("the position, the events and their rejections are stored together", async () => {
  await insert(shop, 1, 2);
  await shop.query(`update outbox set body = '{"n": "2"}' where id = 2`);
  const instance = await world.open({ started: false });
  await instance.hooks.eventTypes.put("order.paid", { schema });
  await world.pool.query("alter table posthorn.rejected_events add constraint broken check (false)");
  const { hooks } = await world.open({ sources: [source] });
  await eventually("the source fails", async () => (await hooks.sources.list())[0]?.state === "failing");
  expect((await hooks.sources.list())[0]).toMatchObject({ position: null, events: 0 });
  expect(await published()).toEqual([]);
  await world.pool.query("alter table posthorn.rejected_events drop constraint broken");
  expect(await publishedAre(2)).toEqual([1, "2"]);
  expect((await hooks.events.list({ state: "rejected" })).data).toHaveLength(1);
});

test("a row that violates a type declared in code is rejected as it is", async () => {
  await insert(shop, 1, 2);
  await shop.query(`update outbox set body = '{"n":  "1"}'::jsonb where id = 1`);
  const events = { "order.paid": event({ schema: z.object({ n: z.int() }), version: "2" }) };
  const { hooks } = await world.open({ sources: [source], events });
  expect(await publishedAre(2)).toEqual(["1", 2]);
  expect((await hooks.events.list({ state: "rejected" })).data).toMatchObject([
    { type: "order.paid", apiVersion: "2", rejection: { code: "invalid_event", pointer: "/data/n" } },
  ]);
});

test("a row that holds the source can be skipped", async () => {
  await insert(shop, 1, 3);
  await shop.query("update outbox set kind = 'Order Paid' where id = 2");
  const { hooks } = await world.open({ sources: [source] });
  await eventually("the source is held", async () => (await hooks.sources.list())[0]?.state === "held");
  await hooks.sources.skip("shop");
  expect(await publishedAre(2)).toEqual([1, 3]);
  await expect(hooks.sources.skip("shop")).rejects.toMatchObject({ code: "source_not_stopped" });
  await expect(hooks.sources.skip("shops")).rejects.toMatchObject({ code: "source_not_found" });
});

test("rows without a good one between them can be skipped one after the other", async () => {
  await insert(shop, 1, 3);
  await shop.query("update outbox set kind = 'Order Paid' where id in (1, 2)");
  const instance = await world.open({ sources: [source] });
  for (const row of ["1", "2"]) {
    await eventually(`row ${row} holds the source`, async () => (await state(instance))?.heldRow === row);
    await instance.hooks.sources.skip("shop");
  }
  expect(await publishedAre(1)).toEqual([3]);
});

test("an event of another publisher never takes the place of a row", async () => {
  const { hooks } = await world.open();
  const other = { tenant: "acme", type: "order.paid", data: { n: 0 } };
  await hooks.publish({ ...other, idempotencyKey: "shop/1" });
  await expect(hooks.publish({ ...other, idempotencyKey: "\u0001shop/1" })).rejects.toMatchObject({
    message: expect.stringContaining("without control characters"),
  });
  await expect(
    world.pool.query(
      `select posthorn.publish('acme', 'order.paid', '{"n": 0}', idempotency_key => U&'\\0001shop/1')`,
    ),
  ).rejects.toThrow(/idempotency_key must be 1 to 256 characters without control characters/);
  await insert(shop, 1, 1);
  await world.open({ sources: [source] });
  expect(await publishedAre(2)).toEqual([0, 1]);
});

test("rows without an id or a finite time are reported, not passed over", async () => {
  await shop.query(
    "alter table outbox drop constraint outbox_pkey, alter id drop identity, alter id drop not null",
  );
  await shop.query("alter table outbox alter updated_at drop not null");
  const add = (id: number | null, n: number, time: string | null) =>
    shop.query(
      "insert into outbox (id, customer, body, updated_at) values ($1, 'acme', jsonb_build_object('n', $2::integer), $3)",
      [id, n, time],
    );
  await add(1, 1, "2026-01-01");
  const instance = await world.open({ sources: [source] });
  await publishedAre(1);
  const errorIs = (text: string) =>
    eventually(text, async () => (await state(instance))?.error?.includes(text));
  await add(null, 2, "2026-01-01");
  await errorIs("because id is null");
  await shop.query("update outbox set id = 2 where id is null");
  expect(await publishedAre(2)).toEqual([1, 2]);
  for (const [time, n] of [
    [null, 3],
    ["infinity", 4],
  ] as const) {
    await add(n, n, time);
    await errorIs("because updated_at is null or infinite");
    await shop.query("update outbox set updated_at = now() where id = $1", [n]);
    await publishedAre(n);
  }
  await add(null, 5, "now");
  await errorIs("The row has no id");
  await instance.hooks.sources.skip("shop");
  await add(6, 6, "now");
  expect(await publishedAre(5)).toEqual([1, 2, 3, 4, 6]);
});

test("a type of an id that no longer fits the position is reported with what to do", async () => {
  await shop.query("alter table outbox alter id drop identity; alter table outbox alter id type text");
  await shop.query("insert into outbox (id, customer, body) values ('order-1', 'acme', '{\"n\": 1}')");
  const instance = await world.open({ sources: [source] });
  await publishedAre(1);
  await shop.query("alter table outbox alter id type uuid using gen_random_uuid()");
  await eventually("the error says what to do", async () =>
    (await state(instance))?.error?.includes(
      'does not fit updated_at and id of public.outbox (invalid input syntax for type uuid: "order-1")',
    ),
  );
});

test("the server ends a poll that takes too long, or whose client is gone, before the next one waits for it", async () => {
  await shop.query(`drop table outbox;
    create view outbox as select 1 as id, timestamptz '2026-01-01' as updated_at, 'acme' as customer, 'order.paid' as kind,
      null::text as about, jsonb_build_object('n', concat_ws(' ', current_setting('statement_timeout'),
      current_setting('idle_in_transaction_session_timeout'))) as body`);
  await world.open({ sources: [source] });
  expect(await publishedAre(1)).toEqual(["50s 1min"]);
});

test("a poll that takes too long is reported with what to do, and its lag is unknown", async () => {
  await insert(shop, 1, 1);
  await shop.query(`alter table outbox rename to slow;
    create function wait() returns text language sql as $$ select pg_sleep(60)::text $$;
    create view outbox as select id, updated_at, customer, kind, wait() as about, body from slow`);
  const database = new URL(source.database as string);
  database.searchParams.set("options", "-c statement_timeout=100");
  const instance = await world.open({ sources: [{ ...source, database: database.href }] });
  await eventually("the source fails", async () => (await state(instance))?.state === "failing");
  expect(await state(instance)).toMatchObject({
    error: expect.stringContaining("create an index on the columns updated_at and id"),
    lagMs: null,
  });
  expect(await instance.hooks.metrics()).not.toContain("webhook_source_lag_seconds{");
});

test("a poll that takes a minute does not delay the end of its process, and is no error", async () => {
  await insert(shop, 1, 1);
  await shop.query(`alter table outbox rename to slow;
    create function wait() returns text language sql as $$ select pg_sleep(60)::text $$;
    create view outbox as select id, updated_at, customer, kind, wait() as about, body from slow`);
  const instance = await world.open({ sources: [source] });
  const isPolling = "from pg_stat_activity where query like 'fetch%' and datname = current_database()";
  await eventually("it is polled", async () => (await shop.query(`select ${isPolling}`)).rows.length > 0);
  await instance.hooks.stop();
  // the statement goes on without its client
  expect((await shop.query(`select pg_terminate_backend(pid) ${isPolling}`)).rows).toHaveLength(1);
  // it runs already if its first poll waited for an open transaction
  const { rows } = await world.pool.query("select error from posthorn.sources");
  expect(rows).toEqual([{ error: null }]);
});

test("a missing column is reported, and the source goes on when it exists", async () => {
  await insert(shop, 1, 1);
  await shop.query("alter table outbox rename column body to payload");
  const instance = await world.open({ sources: [source] });
  await eventually("the source fails", async () => (await state(instance))?.state === "failing");
  expect((await state(instance))?.error).toBe('column "body" does not exist');
  await shop.query("alter table outbox rename column payload to body");
  expect(await publishedAre(1)).toEqual([1]);
});

test("a missing column is reported although an open transaction delays the rows", async () => {
  const open = await shop.connect();
  try {
    await open.query("begin");
    await open.query("select 1");
    await shop.query("alter table outbox rename column body to payload");
    const instance = await world.open({ sources: [source] });
    await eventually("the source fails", async () => (await state(instance))?.state === "failing");
    expect((await state(instance))?.error).toBe('column "body" does not exist');
    await open.query("rollback");
  } finally {
    open.release();
  }
});

test("one of two instances follows a source, and the other continues when the first has stopped", async () => {
  await insert(shop, 1, 5);
  const first = await world.open({ sources: [source] });
  await publishedAre(5);
  await world.open({ sources: [source] });
  await first.close();
  await insert(shop, 6, 10);
  expect(await publishedAre(10)).toEqual(numbers(1, 10));
});
