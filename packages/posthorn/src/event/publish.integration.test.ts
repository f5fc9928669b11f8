// Publishing by its three ways (alone, in the caller's transaction, by the SQL function): the same events, the same
// limits, the same answer to a key that was seen before, and not a byte of the data changed.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMigratedDatabase, createPool, type TestDatabase } from "../../../../tests/support/postgres.ts";
import {
  createTestInstance,
  type ReceivedRequest,
  type ScriptedReceiver,
  startScriptedReceiver,
  type TestInstance,
} from "../testing/index.ts";
import type { PublishInput } from "./validate.ts";

const encryptionKeys = `test:${randomBytes(32).toString("base64")}`;

let database: TestDatabase;
let pool: pg.Pool;
let receiver: ScriptedReceiver;
let a: TestInstance;
let b: TestInstance;

beforeAll(async () => {
  receiver = await startScriptedReceiver();
  database = await createMigratedDatabase();
  pool = createPool(database.connectionString);
  a = await createTestInstance({ database: database.connectionString, encryptionKeys });
  b = await createTestInstance({ database: database.connectionString, encryptionKeys });
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  await pool.end();
  await database.drop();
  await receiver.close();
});

let names = 0;
/** Each test has a tenant of its own. */
async function newTenant(): Promise<string> {
  names += 1;
  await a.hooks.tenants.upsert(`tenant-${names}`, {});
  return `tenant-${names}`;
}

async function newEndpoint(tenant: string, options: Record<string, unknown> = {}): Promise<string> {
  names += 1;
  const path = `/publish-${names}`;
  await a.hooks.endpoints.create(tenant, { url: receiver.url + path, events: ["*"], ...options });
  return path;
}

async function inTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

type Published = { readonly id: string; readonly duplicate: boolean | null };

/** Every way takes the same input and tells the event's id. */
const ways: Record<string, (input: PublishInput) => Promise<Published>> = {
  alone: (input) => a.hooks.publish(input),
  "in a transaction": (input) => inTransaction((tx) => a.hooks.publish(input, { tx })),
  "by the SQL function": async (input) => ({ id: await publishBySql(input), duplicate: null }),
};

async function publishBySql(input: PublishInput): Promise<string> {
  const data =
    input.rawData === undefined
      ? JSON.stringify(input.data)
      : String(Buffer.from(input.rawData as Uint8Array));
  const { rows } = await pool.query(
    `select posthorn.publish(tenant => $1, type => $2, data => $3::text, subject => $4, api_version => $5,
       idempotency_key => $6) as id`,
    [
      input.tenant,
      input.type,
      data,
      input.subject ?? null,
      input.apiVersion ?? "1",
      input.idempotencyKey ?? null,
    ],
  );
  return rows[0].id;
}

async function countEvents(tenant: string): Promise<number> {
  const { rows } = await pool.query(
    "select count(*)::integer as count from posthorn.events where tenant = $1",
    [tenant],
  );
  return rows[0].count;
}

describe("an idempotency key", () => {
  test("used again returns the first event and creates nothing", async () => {
    const tenant = await newTenant();
    await newEndpoint(tenant);
    const input = { tenant, type: "order.paid", data: { id: 1 }, idempotencyKey: "key" };
    const first = await a.hooks.publish(input);
    expect(first).toMatchObject({ duplicate: false, deliveries: 1 });
    expect(await a.hooks.publish(input)).toEqual({
      id: first.id,
      sequence: null,
      duplicate: true,
      deliveries: 0,
    });
    expect(await b.hooks.publish(input)).toEqual({
      id: first.id,
      sequence: null,
      duplicate: true,
      deliveries: 0,
    });
    expect(await countEvents(tenant)).toBe(1);
  });

  test.each(Object.keys(ways))("published %s is known to every other way of publishing", async (way) => {
    const tenant = await newTenant();
    const input = {
      tenant,
      type: "order.paid",
      data: { text: "Grüße 😀 \u0000", list: [1.5, null] },
      subject: "order:ü",
      apiVersion: "2026-01",
      idempotencyKey: "schlüssel",
    };
    const first = await ways[way]?.(input);
    for (const again of Object.values(ways)) {
      const second = await again(input);
      expect(second.id).toBe(first?.id);
      expect(second.duplicate).not.toBe(false);
    }
    expect(await countEvents(tenant)).toBe(1);
  });

  test.each<[what: string, change: Partial<PublishInput>]>([
    ["data", { data: { id: 2 } }],
    ["type", { type: "order.sent" }],
    ["subject", { subject: "other" }],
    ["version", { apiVersion: "2" }],
    ["bytes of the same data", { data: undefined, rawData: Buffer.from('{ "id": 1 }') }],
  ])("used again with another %s is a conflict that names the first event", async (_what, change) => {
    const tenant = await newTenant();
    const input = { tenant, type: "order.paid", data: { id: 1 }, idempotencyKey: "key" };
    const { id } = await a.hooks.publish(input);
    for (const way of ["alone", "in a transaction"]) {
      await expect(ways[way]?.({ ...input, ...change })).rejects.toMatchObject({
        code: "idempotency_conflict",
        status: 422,
        message: expect.stringContaining(id),
      });
    }
    await expect(publishBySql({ ...input, ...change })).rejects.toMatchObject({
      code: "PH422",
      hint: "idempotency_conflict",
      message: expect.stringContaining(id),
    });
    expect(await countEvents(tenant)).toBe(1);
  });

  test("raced for by 60 publishers of two instances and a client gives one event", async () => {
    const tenant = await newTenant();
    const path = await newEndpoint(tenant);
    const input = { tenant, type: "order.paid", data: 1, idempotencyKey: "race" };
    const results = await Promise.all([
      ...Array.from({ length: 25 }, () => a.hooks.publish(input)),
      ...Array.from({ length: 25 }, () => b.hooks.publish(input)),
      ...Array.from({ length: 10 }, () => ways["in a transaction"]?.(input) as Promise<Published>),
    ]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await countEvents(tenant)).toBe(1);
    await Promise.all([a.settle(), b.settle()]);
    expect(receiver.requestsTo(path)).toHaveLength(1);
  });

  test("of one tenant does not affect another's", async () => {
    const [one, other] = [await newTenant(), await newTenant()];
    const input = { type: "order.paid", data: 1, idempotencyKey: "key" };
    const first = await a.hooks.publish({ ...input, tenant: one });
    const second = await a.hooks.publish({ ...input, tenant: other });
    expect(second).toMatchObject({ duplicate: false });
    expect(second.id).not.toBe(first.id);
  });

  test("of a transaction that was rolled back is free again", async () => {
    const tenant = await newTenant();
    const input = { tenant, type: "order.paid", data: 1, idempotencyKey: "key" };
    const failure = new Error("roll back");
    await expect(
      inTransaction(async (tx) => {
        await a.hooks.publish(input, { tx });
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect(await a.hooks.publish({ ...input, data: 2 })).toMatchObject({ duplicate: false });
  });
});

describe("the SQL function", () => {
  test("called by a plain client gives the event that publish gives", async () => {
    const tenant = await newTenant();
    const path = await newEndpoint(tenant);
    const input = { tenant, type: "order.paid", data: { id: 1 }, subject: "order:1", apiVersion: "7" };
    const ids = [(await a.hooks.publish(input)).id, await publishBySql(input)];
    await a.settle();
    const events = await Promise.all(ids.map((id) => a.hooks.events.get(id)));
    const [first, second] = events.map(({ id: _id, createdAt: _at, deliveries, ...facts }) => ({
      ...facts,
      states: deliveries.map(({ state, attemptCount }) => ({ state, attemptCount })),
    }));
    expect(second).toEqual({ ...first, sequence: 2, previous: expect.stringMatching(/^evt_/) });
    expect(first?.sequence).toBe(1);
    expect(
      Math.abs((events[0]?.createdAt.getTime() ?? 0) - (events[1]?.createdAt.getTime() ?? 0)),
    ).toBeLessThan(5_000);
    const bodies = receiver.requestsTo(path).map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map(({ id }) => id).sort()).toEqual([...ids].sort());
    for (const body of bodies) {
      expect(body).toMatchObject({
        type: "order.paid",
        api_version: "7",
        subject: "order:1",
        data: { id: 1 },
      });
    }
  });

  test("takes three arguments, an untyped literal, and an id of the caller's own", async () => {
    const tenant = await newTenant();
    const short = await pool.query(
      `select posthorn.publish('${tenant}', 'order.paid', '{"b":1,"a":1.0}') as id`,
    );
    const event = await a.hooks.events.get(short.rows[0].id);
    expect(String(event.payload)).toBe('{"b":1,"a":1.0}');
    const own = "evt_0198c2f0-0000-7000-8000-0123456789ab";
    const named = await pool.query("select posthorn.publish($1, 'order.paid', '1', id => $2) as id", [
      tenant,
      own,
    ]);
    expect(named.rows).toEqual([{ id: own }]);
    await expect(
      pool.query("select posthorn.publish($1, 'order.paid', '1', id => 'evt_1') as id", [tenant]),
    ).rejects.toMatchObject({ code: "PH422", hint: "invalid_id" });
  });

  test("takes jsonb too, in PostgreSQL's own spelling", async () => {
    const tenant = await newTenant();
    const { rows } = await pool.query(
      `select posthorn.publish($1, 'order.paid', jsonb_build_object('b', 1, 'a', array[true])) as id`,
      [tenant],
    );
    expect(String((await a.hooks.events.get(rows[0].id)).payload)).toBe('{"a": [true], "b": 1}');
  });
});

const nested = (depth: number): Buffer => Buffer.from("[".repeat(depth) + "]".repeat(depth));
const ofBytes = (bytes: number): Buffer => Buffer.from(JSON.stringify("x".repeat(bytes - 2)));

describe("limits", () => {
  test.each<
    [what: string, atLimit: Partial<PublishInput>, past: Partial<PublishInput>, hint: string, says: RegExp]
  >([
    [
      "bytes of data",
      { rawData: ofBytes(262_144) },
      { rawData: ofBytes(262_145) },
      "payload_too_large",
      /has 262145 bytes; the limit is 262144/,
    ],
    [
      "levels of data",
      { rawData: nested(64) },
      { rawData: nested(65) },
      "payload_too_deep",
      /nested deeper than 64 levels; flatten it/,
    ],
    [
      "levels beyond any parser's stack",
      { data: 1 },
      { rawData: nested(100_000) },
      "payload_too_deep",
      /nested deeper than 64 levels; flatten it/,
    ],
    [
      "characters of the tenant",
      { tenant: "t".repeat(128) },
      { tenant: "t".repeat(129) },
      "invalid_tenant",
      /tenant must be 1 to 128 characters/,
    ],
    [
      "characters in the tenant",
      { tenant: "Az09_.:@-" },
      { tenant: "a b" },
      "invalid_tenant",
      /tenant must be/,
    ],
    ["line breaks in the tenant", { tenant: "a" }, { tenant: "a\n" }, "invalid_tenant", /tenant must be/],
    [
      "characters of the type",
      { type: "t".repeat(128) },
      { type: "t".repeat(129) },
      "invalid_type",
      /type must be lower-case words.* at most 128 characters/,
    ],
    ["dots in the type", { type: "a.b_1.c" }, { type: "a..b" }, "invalid_type", /type must be/],
    [
      "types of Posthorn's own",
      { type: "webhooks.sent" },
      { type: "webhook.sent" },
      "invalid_type",
      /[Tt]ypes that begin with webhook\. are Posthorn's own; give the event another type/,
    ],
    ["capitals in the type", { type: "a" }, { type: "Order" }, "invalid_type", /type must be/],
    [
      "characters of the subject",
      { subject: "s".repeat(256) },
      { subject: "s".repeat(257) },
      "invalid_subject",
      /subject must be 1 to 256 characters/,
    ],
    [
      "characters outside the basic plane",
      { subject: "😀".repeat(256) },
      { subject: "😀".repeat(257) },
      "invalid_subject",
      /subject must be 1 to 256 characters/,
    ],
    ["an empty subject", { subject: " " }, { subject: "" }, "invalid_subject", /subject must be/],
    [
      "control characters in the subject",
      { subject: "a b" },
      { subject: "a\nb" },
      "invalid_subject",
      /subject must be .*without control characters/,
    ],
    [
      "characters of the key",
      { idempotencyKey: "k".repeat(256) },
      { idempotencyKey: "k".repeat(257) },
      "invalid_idempotency_key",
      /must be 1 to 256 characters/,
    ],
    [
      "control characters in the key",
      { idempotencyKey: "ü" },
      { idempotencyKey: "a\tb" },
      "invalid_idempotency_key",
      /must be .*without control characters/,
    ],
    [
      "an empty key",
      { idempotencyKey: " " },
      { idempotencyKey: "" },
      "invalid_idempotency_key",
      /must be 1 to 256 characters/,
    ],
    [
      "characters of the version",
      { apiVersion: "v".repeat(32) },
      { apiVersion: "v".repeat(33) },
      "invalid_api_version",
      /must be 1 to 32 characters/,
    ],
  ])("on %s are the same in TypeScript and in SQL", async (_what, atLimit, past, hint, says) => {
    const tenant = await newTenant();
    const base = (change: Partial<PublishInput>): PublishInput =>
      change.rawData === undefined
        ? { tenant, type: "order.paid", data: 1, ...change }
        : { tenant, type: "order.paid", ...change };
    for (const publish of Object.values(ways)) await publish(base(atLimit));
    const code = hint === "payload_too_large" ? hint : "invalid_event";
    for (const way of ["alone", "in a transaction"])
      await expect(ways[way]?.(base(past)), way).rejects.toMatchObject({
        code,
        message: expect.stringMatching(says),
      });
    await expect(publishBySql(base(past)), "SQL").rejects.toMatchObject({
      code: "PH422",
      hint,
      message: expect.stringMatching(says),
    });
  });

  test("are reported all at once, each with a pointer", async () => {
    const bad = { tenant: "", type: "Order", data: () => 1, subject: "", apiVersion: "", idempotencyKey: "" };
    const error = await a.hooks.publish(bad).catch((reason) => reason);
    expect(error.problems.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/tenant",
      "/type",
      "/subject",
      "/apiVersion",
      "/idempotencyKey",
      "/data",
    ]);
  });

  test("violated by one event reject all events of the call", async () => {
    const tenant = await newTenant();
    const many = ["order.paid", "Not a type", "order.sent"].map((type) => ({ tenant, type, data: 1 }));
    await expect(a.hooks.publishMany(many)).rejects.toMatchObject({
      code: "invalid_event",
      problems: [{ pointer: "/1/type" }],
    });
    expect(await countEvents(tenant)).toBe(0);
  });
});

describe("data", () => {
  const corpus = [
    '{"nul":"\\u0000","lone":"\\ud800 \\udc00","pair":"\\ud83d\\ude00"}',
    '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}',
    "12345678901234567890",
    "[1.0,-0,1e400,1E-7,0.1000]",
    '{"b":1,"a":2,"B":3}',
    '{"twice":1,"twice":2}',
    ' {\n  "spaced" : [ 1 , 2 ]\t}\r\n',
    '"Grüße 😀 \u2028 \u007f \\/ \\u00fc"',
    "null",
    '""',
  ];

  test.each(Object.keys(ways))("published %s arrives byte for byte", async (way) => {
    const tenant = await newTenant();
    const bare = await newEndpoint(tenant, { format: "data" });
    const wrapped = await newEndpoint(tenant);
    for (const [i, json] of corpus.entries()) {
      const published = await ways[way]?.({ tenant, type: "order.paid", rawData: Buffer.from(json) });
      await a.settle();
      expect(String((await a.hooks.events.get(published?.id as string)).payload)).toBe(json);
      const [body, envelope] = [bare, wrapped].map((path) => String(receiver.requestsTo(path)[i]?.body));
      expect(body).toBe(json);
      expect(envelope).toMatch(/^\{"id":"evt_/);
      expect(envelope?.endsWith(`"data":${json}}`)).toBe(true);
      JSON.parse(envelope as string);
    }
  });

  test("that JavaScript holds arrives as its own JSON, NUL and lone surrogates escaped", async () => {
    const tenant = await newTenant();
    const path = await newEndpoint(tenant, { format: "data" });
    const data = {
      z: "\u0000",
      a: "\ud800",
      __proto__: null,
      when: new Date(0),
      nothing: undefined,
      nan: Number.NaN,
    };
    await a.hooks.publish({ tenant, type: "order.paid", data });
    const [request] = (await receiver.received(1, { path })) as [ReceivedRequest];
    expect(String(request.body)).toBe(
      '{"z":"\\u0000","a":"\\ud800","when":"1970-01-01T00:00:00.000Z","nan":null}',
    );
  });

  test.each<[what: string, rawData: Buffer]>([
    ["nothing at all", Buffer.from("")],
    ["two values", Buffer.from("1 2")],
    ["a raw NUL", Buffer.from('"\u0000"')],
    ["half a UTF-8 character", Buffer.from([0x22, 0xc3, 0x22])],
    ["a surrogate in UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ["a byte order mark", Buffer.from("\ufeff1")],
    ["NaN", Buffer.from("NaN")],
    ["a trailing comma", Buffer.from("[1,]")],
    ["an unfinished escape", Buffer.from('"\\u12"')],
  ])("that is %s is refused with the reason", async (_what, rawData) => {
    const tenant = await newTenant();
    const input = { tenant, type: "order.paid", rawData };
    await expect(a.hooks.publish(input)).rejects.toMatchObject({
      code: "invalid_event",
      message: expect.stringMatching(/^data cannot be published: ./),
    });
    if (!rawData.includes(0) && rawData.equals(Buffer.from(String(rawData)))) {
      await expect(publishBySql(input)).rejects.toMatchObject({ code: "PH422", hint: "invalid_data" });
    }
    expect(await countEvents(tenant)).toBe(0);
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each<[what: string, data: unknown, says: RegExp]>([
    ["missing", undefined, /it is missing; pass null for no data/],
    ["a function", () => 1, /a function has no JSON; pass plain data/],
    ["a BigInt", { n: 1n }, /it contains a BigInt, which JSON cannot represent; convert it to a string/],
    ["circular", circular, /it refers to itself; pass plain data/],
  ])("that is %s is refused with the reason", async (_what, data, says) => {
    const tenant = await newTenant();
    await expect(a.hooks.publish({ tenant, type: "order.paid", data })).rejects.toMatchObject({
      code: "invalid_event",
      message: expect.stringMatching(says),
    });
  });
});

describe("a transaction", () => {
  const input = { tenant: "acme", type: "order.paid", data: 1 };

  test("is not a Pool", async () => {
    await expect(a.hooks.publish(input, { tx: pool })).rejects.toMatchObject({
      code: "not_a_transaction",
      message: expect.stringContaining("tx is a Pool: every query of a pool may run on another connection"),
    });
  });

  test("is not a client before begin", async () => {
    const client = await pool.connect();
    await client.query("select 1");
    await expect(a.hooks.publish(input, { tx: client })).rejects.toMatchObject({
      code: "not_a_transaction",
      message: expect.stringContaining("tx has no open transaction"),
    });
    await client.query("begin");
    await client.query("commit");
    await expect(a.hooks.publish(input, { tx: client })).rejects.toMatchObject({ code: "not_a_transaction" });
    client.release();
  });

  test("is not something without a query method", async () => {
    for (const tx of [null, {}, "begin"])
      await expect(a.hooks.publish(input, { tx: tx as never })).rejects.toMatchObject({
        code: "not_a_transaction",
      });
  });

  test("that is serializable and loses gets its 40001 untouched", async () => {
    const tenant = await newTenant();
    const [winner, loser] = [await pool.connect(), await pool.connect()];
    for (const client of [winner, loser]) {
      await client.query("begin isolation level serializable");
      await client.query("select count(*) from posthorn.idempotency_keys");
    }
    const raced = { tenant, type: "order.paid", data: 1, idempotencyKey: "key" };
    await a.hooks.publish(raced, { tx: winner });
    await winner.query("commit");
    const error = await a.hooks.publish(raced, { tx: loser }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "40001" });
    expect(error.constructor.name).toBe("DatabaseError");
    await loser.query("rollback");
    expect(await inTransaction((tx) => a.hooks.publish(raced, { tx }))).toMatchObject({ duplicate: true });
    winner.release();
    loser.release();
  });

  test("carries the event to its endpoints only after its commit", async () => {
    const tenant = await newTenant();
    const path = await newEndpoint(tenant);
    const client = await pool.connect();
    await client.query("begin");
    const published = await a.hooks.publish({ ...input, tenant }, { tx: client });
    expect(published).toMatchObject({ duplicate: false, deliveries: null });
    await a.settle();
    expect(receiver.requestsTo(path)).toHaveLength(0);
    await client.query("commit");
    client.release();
    await receiver.received(1, { path });
  });
});

test("what is published before the start waits in the outbox and is delivered after it", async () => {
  const own = await createMigratedDatabase();
  const instance = await createTestInstance({ database: own.connectionString, started: false });
  await instance.hooks.tenants.upsert("acme", {});
  await instance.hooks.endpoints.create("acme", { url: `${receiver.url}/before-start`, events: ["*"] });
  const input = { tenant: "acme", type: "order.paid", data: 1, idempotencyKey: "key" };
  const published = await instance.hooks.publish(input);
  expect(published).toMatchObject({ duplicate: false, deliveries: null });
  expect(await instance.hooks.publish(input)).toMatchObject({ id: published.id, duplicate: true });
  expect((await instance.hooks.events.get(published.id)).deliveries).toEqual([]);
  await instance.hooks.start();
  await instance.settle();
  expect(receiver.requestsTo("/before-start")).toHaveLength(1);
  expect((await instance.hooks.events.get(published.id)).deliveries).toMatchObject([{ state: "success" }]);
  await instance.close();
  await own.drop();
});

test("a thousand publishes at once are a handful of statements", async () => {
  const tenant = await newTenant();
  const before = a.hooks.db.statementsSent;
  const results = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => a.hooks.publish({ tenant, type: "order.paid", data: n })),
  );
  expect(a.hooks.db.statementsSent - before).toBeLessThan(30);
  expect(new Set(results.map(({ id }) => id)).size).toBe(1_000);
  expect(await countEvents(tenant)).toBe(1_000);
});

describe("fan-out", () => {
  test("goes by exact type, by prefix and by everything", async () => {
    const tenant = await newTenant();
    const patterns = [["order.paid"], ["order.*"], ["*"], ["user.created", "order.paid.*"]];
    const paths: string[] = [];
    for (const events of patterns) paths.push(await newEndpoint(tenant, { events }));
    const types = ["order.paid", "order.paid.late", "orders.paid", "order", "user.created"];
    const counts: Record<string, number | null> = {};
    for (const type of types) counts[type] = (await a.hooks.publish({ tenant, type, data: 1 })).deliveries;
    expect(counts).toEqual({
      "order.paid": 3,
      "order.paid.late": 3,
      "orders.paid": 1,
      order: 1,
      "user.created": 2,
    });
    await a.settle();
    const received = paths.map((path) =>
      receiver
        .requestsTo(path)
        .map(({ body }) => JSON.parse(String(body)).type)
        .sort(),
    );
    expect(received).toEqual([
      ["order.paid"],
      ["order.paid", "order.paid.late"],
      [...types].sort(),
      ["order.paid.late", "user.created"],
    ]);
  });

  test("sees an endpoint that another instance made a moment ago, and one that it deleted or changed", async () => {
    const tenant = await newTenant();
    const input = { tenant, type: "order.paid", data: 1 };
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 0 });
    const url = `${receiver.url}/made-by-b`;
    const { endpoint } = await b.hooks.endpoints.create(tenant, { url, events: ["*"] });
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 1 });
    await b.hooks.endpoints.update(tenant, endpoint.id, { events: ["user.*"] });
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 0 });
    await b.hooks.endpoints.update(tenant, endpoint.id, { events: ["*"] });
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 1 });
    await b.hooks.endpoints.delete(tenant, endpoint.id);
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 0 });
  });

  test("stores an event without endpoints, even of an unknown tenant", async () => {
    const tenant = await newTenant();
    await newEndpoint(tenant, { events: ["user.*"] });
    for (const owner of [tenant, "never-made"]) {
      for (const publish of Object.values(ways)) {
        const { id } = await publish({ tenant: owner, type: "order.paid", data: 1 });
        await a.settle();
        expect(await a.hooks.events.get(id)).toMatchObject({ tenant: owner, deliveries: [] });
      }
    }
  });

  test("delivers nothing to an inactive tenant, and stores its events", async () => {
    const tenant = await newTenant();
    const path = await newEndpoint(tenant);
    await b.hooks.tenants.upsert(tenant, { isActive: false });
    for (const publish of Object.values(ways)) {
      const { id } = await publish({ tenant, type: "order.paid", data: 1 });
      await a.settle();
      expect((await a.hooks.events.get(id)).deliveries).toEqual([]);
    }
    await b.hooks.tenants.upsert(tenant, { isActive: true });
    await a.hooks.publish({ tenant, type: "order.paid", data: "now" });
    const [request] = (await receiver.received(1, { path })) as [ReceivedRequest];
    expect(JSON.parse(String(request.body)).data).toBe("now");
  });
});

test("a key locked by an open transaction delays no other publish", async () => {
  const tenant = await newTenant();
  const keyed = { tenant, type: "order.paid", data: { order: 1 }, idempotencyKey: "held" };
  const client = await pool.connect();
  await client.query("begin");
  const first = await a.hooks.publish(keyed, { tx: client });
  const again = [a.hooks.publish(keyed), a.hooks.publish(keyed), a.hooks.publish(keyed)];
  const others = await Promise.all([
    a.hooks.publish({ tenant, type: "order.paid", data: {} }),
    a.hooks.publish({ tenant, type: "order.paid", data: {}, idempotencyKey: "free" }),
  ]);
  expect(others.map(({ duplicate }) => duplicate)).toEqual([false, false]);
  await client.query("commit");
  client.release();
  for (const result of await Promise.all(again))
    expect(result).toMatchObject({ id: first.id, duplicate: true });
});
