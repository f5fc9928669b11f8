// The three ways of publishing (alone, in the caller's transaction, by the SQL function): the same events, the same
// limits, the same result for a known key, and unchanged bytes of the data.
import { describe, expect, test } from "vitest";
import {
  databasePerFile,
  newEndpoint,
  newTenant,
  publishBySql,
  receiverPerFile,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import type { PublishInput } from "../event/validate.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import type { ReceivedRequest } from "../testing/index.ts";

const world = await databasePerFile();
const { pool } = world;
const receiver = await receiverPerFile();
const [a, b] = [await world.open(), await world.open()];

/** An event of a tenant; each test has its own. */
const paid = (tenant: string, more: Partial<PublishInput> = {}): PublishInput => ({
  tenant,
  type: "order.paid",
  ...(more.rawData === undefined && { data: 1 }),
  ...more,
});

async function endpointOf(tenant: string, options: Partial<EndpointInput> = {}): Promise<string> {
  return (await newEndpoint(a, receiver, options, tenant)).path;
}

type Published = { readonly id: string; readonly duplicate: boolean | null };

/** Every way takes the same input and returns the event's id. */
const ways: Record<string, (input: PublishInput) => Promise<Published>> = {
  alone: (input) => a.hooks.publish(input),
  "in a transaction": (input) => inTransaction(pool, (tx) => a.hooks.publish(input, { tx })),
  "by the SQL function": async (input) => ({ id: await publishBySql(pool, input), duplicate: null }),
};

/** Expects an error of every way: a code, the SQL function's hint, and a reason that all of them report. */
async function expectRefused(input: PublishInput, code: string, hint: string, says: RegExp): Promise<void> {
  const message = expect.stringMatching(says);
  const status = code === "payload_too_large" ? 413 : 422;
  for (const way of ["alone", "in a transaction"])
    await expect(ways[way]?.(input), way).rejects.toMatchObject({
      code,
      status,
      message,
    });
  await expect(publishBySql(pool, input), "SQL").rejects.toMatchObject({ code: "PH422", hint, message });
}

async function countEvents(tenant: string): Promise<number> {
  const { rows } = await pool.query(
    "select count(*)::integer as count from posthorn.events where tenant = $1",
    [tenant],
  );
  return rows[0].count;
}

describe("an idempotency key", () => {
  test("used again in its tenant returns the first event and creates nothing", async () => {
    const tenant = await newTenant(a);
    await endpointOf(tenant);
    const input = paid(tenant, { idempotencyKey: "key" });
    const first = await a.hooks.publish(input);
    expect(first).toMatchObject({ duplicate: false, deliveries: 1 });
    const again = { id: first.id, sequence: null, duplicate: true, deliveries: 0 };
    for (const { hooks } of [a, b]) expect(await hooks.publish(input)).toEqual(again);
    const ofAnother = await a.hooks.publish({ ...input, tenant: await newTenant(a) });
    expect(ofAnother).toMatchObject({ duplicate: false });
    expect(await countEvents(tenant)).toBe(1);
  });

  test.each(Object.keys(ways))("published %s is recognised by every other way of publishing", async (way) => {
    const tenant = await newTenant(a);
    const input = paid(tenant, {
      data: { text: "Grüße 😀 \u0000", list: [1.5, null] },
      subject: "order:ü",
      apiVersion: "2026-01",
      idempotencyKey: "schlüssel",
    });
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
    const tenant = await newTenant(a);
    const input = paid(tenant, { data: { id: 1 }, idempotencyKey: "key" });
    const { id } = await a.hooks.publish(input);
    const code = "idempotency_conflict";
    await expectRefused({ ...input, ...change }, code, code, new RegExp(id));
    expect(await countEvents(tenant)).toBe(1);
  });
});

describe("the SQL function", () => {
  test("called by a plain client creates the same event as publish", async () => {
    const tenant = await newTenant(a);
    const path = await endpointOf(tenant);
    const input = paid(tenant, { subject: "order:1", apiVersion: "7" });
    const ids = [(await a.hooks.publish(input)).id, await publishBySql(pool, input)];
    await a.settle();
    const events = await Promise.all(ids.map((id) => a.hooks.events.get(id)));
    const [first, second] = events.map(({ id: _id, createdAt: _at, deliveries, ...facts }) => ({
      ...facts,
      states: deliveries.map(({ state, attemptCount }) => ({ state, attemptCount })),
    }));
    expect(second).toEqual({ ...first, sequence: 2, previous: expect.stringMatching(/^evt_/) });
    expect(first?.sequence).toBe(1);
    expect(receiver.requestsTo(path)).toHaveLength(2);
  });

  test.each([
    ["three arguments", `'{"b":1,"a":1.0}'`, '{"b":1,"a":1.0}'],
    [
      "jsonb, as PostgreSQL writes it",
      "jsonb_build_object('b', 1, 'a', array[true])",
      '{"a": [true], "b": 1}',
    ],
  ])("accepts %s", async (_what, data, payload) => {
    const tenant = await newTenant(a);
    const { rows } = await pool.query(`select posthorn.publish('${tenant}', 'order.paid', ${data}) as id`);
    expect(String((await a.hooks.events.get(rows[0].id)).payload)).toBe(payload);
  });

  test("accepts the caller's own id, if it is one", async () => {
    const text = "select posthorn.publish($1, 'order.paid', '1', id => $2) as id";
    const values = [await newTenant(a), "evt_0198c2f0-0000-7000-8000-0123456789ab"];
    expect((await pool.query(text, values)).rows).toEqual([{ id: values[1] }]);
    const refused = pool.query(text, [values[0], "evt_1"]);
    await expect(refused).rejects.toMatchObject({ code: "PH422", hint: "invalid_id" });
  });

  test("accepts an id that is up to a minute ahead, and refuses a later one", async () => {
    const tenant = await newTenant(a);
    const publishAt = (at: string) =>
      pool.query(
        `select posthorn.publish($1, 'order.paid', '1', id => 'evt_' || posthorn.uuidv7(${at})) as id`,
        [tenant],
      );
    await publishAt("posthorn.now() + interval '59 seconds'");
    const refused = publishAt("posthorn.now() + interval '70 seconds'");
    await expect(refused).rejects.toMatchObject({
      code: "PH422",
      hint: "invalid_id",
      message: expect.stringContaining("more than a minute ahead"),
    });
    const last = "select posthorn.publish($1, 'x.y', '{}', id => 'evt_ffffffff-ffff-7fff-bfff-ffffffffffff')";
    await expect(pool.query(last, [tenant])).rejects.toMatchObject({ hint: "invalid_id" });
  });
});

const nested = (depth: number): Buffer => Buffer.from("[".repeat(depth) + "]".repeat(depth));
const ofBytes = (bytes: number): Buffer => Buffer.from(JSON.stringify("x".repeat(bytes - 2)));

/** The SQL hint, and the reason that both ways report, for an invalid field. */
const refusals = {
  rawData: ["payload_too_deep", /nested deeper than 64 levels; flatten it/],
  tenant: ["invalid_tenant", /tenant must be 1 to 128 characters/],
  type: [
    "invalid_type",
    /type must be lower-case words.* at most 128 characters|begin with webhook\. are Posthorn's/,
  ],
  subject: ["invalid_subject", /subject must be 1 to 256 characters without control characters/],
  idempotencyKey: ["invalid_idempotency_key", /must be 1 to 256 characters without control characters/],
  apiVersion: ["invalid_api_version", /must be 1 to 32 characters/],
} as const;

describe("limits", () => {
  test.each<[field: keyof typeof refusals, what: string, atLimit: unknown, past: unknown]>([
    ["rawData", "levels", nested(64), nested(65)],
    ["rawData", "levels beyond any parser's stack", ofBytes(262_144), nested(100_000)],
    ["tenant", "length", "t".repeat(128), "t".repeat(129)],
    ["tenant", "characters", "Az09_.:@-", "a b"],
    ["tenant", "line breaks", "a", "a\n"],
    ["type", "length", "t".repeat(128), "t".repeat(129)],
    ["type", "dots", "a.b_1.c", "a..b"],
    ["type", "capitals", "a", "Order"],
    ["type", "types of Posthorn's own", "webhooks.sent", "webhook.sent"],
    ["subject", "length", "s".repeat(256), "s".repeat(257)],
    ["subject", "characters outside the basic plane", "😀".repeat(256), "😀".repeat(257)],
    ["subject", "emptiness", " ", ""],
    ["subject", "control characters", "a b", "a\nb"],
    ["idempotencyKey", "length", "k".repeat(256), "k".repeat(257)],
    ["idempotencyKey", "control characters", "ü", "a\tb"],
    ["idempotencyKey", "emptiness", " ", ""],
    ["apiVersion", "length", "v".repeat(32), "v".repeat(33)],
  ])("on %s (%s) are the same in TypeScript and in SQL", async (field, _what, atLimit, past) => {
    const tenant = await newTenant(a);
    const published = (value: unknown) => paid(tenant, { [field]: value });
    for (const publish of Object.values(ways)) await publish(published(atLimit));
    const [hint, message] = refusals[field];
    await expectRefused(published(past), "invalid_event", hint, message);
  });

  test("on bytes of data are the same in TypeScript and in SQL", async () => {
    const input = paid(await newTenant(a), { rawData: ofBytes(262_145) });
    const code = "payload_too_large";
    await expectRefused(input, code, code, /has 262145 bytes; the limit is 262144/);
  });

  test("are reported all at once, each with a pointer", async () => {
    const bad = { tenant: "", type: "Order", data: () => 1, subject: "", apiVersion: "", idempotencyKey: "" };
    const pointers = ["/tenant", "/type", "/subject", "/apiVersion", "/idempotencyKey", "/data"];
    await expect(a.hooks.publish(bad)).rejects.toMatchObject({
      problems: pointers.map((pointer) => ({ pointer })),
    });
  });

  test("violated by one event reject all events of the call", async () => {
    const tenant = await newTenant(a);
    const many = ["order.paid", "Not a type", "order.sent"].map((type) => paid(tenant, { type }));
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
    const tenant = await newTenant(a);
    const bare = await endpointOf(tenant, { format: "data" });
    const wrapped = await endpointOf(tenant);
    for (const [i, json] of corpus.entries()) {
      const published = await ways[way]?.(paid(tenant, { rawData: Buffer.from(json) }));
      await a.settle();
      expect(String((await a.hooks.events.get(published?.id as string)).payload)).toBe(json);
      const [body, envelope] = [bare, wrapped].map((path) => String(receiver.requestsTo(path)[i]?.body));
      expect(body).toBe(json);
      expect(envelope).toMatch(/^\{"id":"evt_/);
      expect(envelope?.endsWith(`"data":${json}}`)).toBe(true);
      JSON.parse(envelope as string);
    }
  });

  test("given as a JavaScript value arrives as JSON, with NUL and lone surrogates escaped", async () => {
    const tenant = await newTenant(a);
    const path = await endpointOf(tenant, { format: "data" });
    const odd = { when: new Date(0), nothing: undefined, nan: Number.NaN };
    await a.hooks.publish(paid(tenant, { data: { z: "\u0000", a: "\ud800", __proto__: null, ...odd } }));
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
  ])("that is %s is rejected with the reason", async (_what, rawData) => {
    const tenant = await newTenant(a);
    const input = paid(tenant, { rawData });
    await expect(a.hooks.publish(input)).rejects.toMatchObject({
      code: "invalid_event",
      message: expect.stringMatching(/^data cannot be published: ./),
    });
    if (!rawData.includes(0) && rawData.equals(Buffer.from(String(rawData)))) {
      const refused = publishBySql(pool, input);
      await expect(refused).rejects.toMatchObject({ code: "PH422", hint: "invalid_data" });
    }
    expect(await countEvents(tenant)).toBe(0);
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  test.each<[what: string, data: unknown, says: string]>([
    ["missing", undefined, "it is missing; pass null for no data"],
    ["a function", () => 1, "a function has no JSON; pass plain data"],
    ["a BigInt", { n: 1n }, "it contains a BigInt, which JSON cannot represent; convert it to a string"],
    ["circular", circular, "it refers to itself; pass plain data"],
  ])("that is %s is rejected with the reason", async (_what, data, says) => {
    await expect(a.hooks.publish(paid("acme", { data }))).rejects.toMatchObject({
      code: "invalid_event",
      message: expect.stringContaining(says),
    });
  });
});

describe("a transaction", () => {
  test.each([null, {}, "begin", { transaction: true }])("is not %j", async (tx) => {
    await expect(a.hooks.publish(paid("acme"), { tx: tx as never })).rejects.toMatchObject({
      code: "not_a_transaction",
      message: expect.stringContaining("Send the statement of publishStatement(event)"),
    });
  });

  test.each(["OK", [[], []], { rows: [{}] }])(
    "is not a client of another database, or a stand-in, that returns %j",
    async (returned) => {
      const tx = { query: async () => returned };
      for (const input of [paid("acme"), { user: "anna", type: "order.paid", data: 1 }])
        await expect(a.hooks.publish(input as PublishInput, { tx })).rejects.toMatchObject({
          code: "not_a_transaction",
          message: expect.stringContaining("it is not a client of PostgreSQL"),
        });
    },
  );

  test("that is serializable and conflicts gets the original error 40001", async () => {
    const raced = paid(await newTenant(a), { idempotencyKey: "key" });
    const [winner, loser] = [await pool.connect(), await pool.connect()];
    for (const client of [winner, loser]) {
      await client.query("begin isolation level serializable");
      await client.query("select count(*) from posthorn.idempotency_keys");
    }
    await a.hooks.publish(raced, { tx: winner });
    await winner.query("commit");
    const error = await a.hooks.publish(raced, { tx: loser }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "40001" });
    expect(error.constructor.name).toBe("DatabaseError");
    await loser.query("rollback");
    const again = await inTransaction(pool, (tx) => a.hooks.publish(raced, { tx }));
    expect(again).toMatchObject({ duplicate: true });
    for (const client of [winner, loser]) client.release();
  });
});

test("a thousand concurrent publishes need few statements", async () => {
  const tenant = await newTenant(a);
  const results = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => a.hooks.publish(paid(tenant, { data: n }))),
  );
  expect(new Set(results.map(({ id }) => id)).size).toBe(1_000);
  expect(await countEvents(tenant)).toBe(1_000);
  const written = "select count(distinct xmin::text)::integer from posthorn.events where tenant = $1";
  expect((await pool.query(written, [tenant])).rows[0].count).toBeLessThan(30);
});

describe("fan-out", () => {
  test("sees endpoints that another instance has just created, deleted or changed", async () => {
    const tenant = await newTenant(a);
    const input = paid(tenant);
    expect(await a.hooks.publish(input)).toMatchObject({ deliveries: 0 });
    const url = `${receiver.url}/created-by-b`;
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
    const tenant = await newTenant(a);
    await endpointOf(tenant, { events: ["user.*"] });
    for (const owner of [tenant, "never-created"]) {
      for (const publish of Object.values(ways)) {
        const { id } = await publish(paid(owner));
        await a.settle();
        expect(await a.hooks.events.get(id)).toMatchObject({ tenant: owner, deliveries: [] });
      }
    }
  });

  test("delivers nothing to an inactive tenant, and stores its events", async () => {
    const tenant = await newTenant(a);
    const path = await endpointOf(tenant);
    await b.hooks.tenants.upsert(tenant, { isActive: false });
    for (const publish of Object.values(ways)) {
      const { id } = await publish(paid(tenant));
      await a.settle();
      expect((await a.hooks.events.get(id)).deliveries).toEqual([]);
    }
    await b.hooks.tenants.upsert(tenant, { isActive: true });
    await a.hooks.publish(paid(tenant, { data: "now" }));
    const [request] = (await receiver.received(1, { path })) as [ReceivedRequest];
    expect(JSON.parse(String(request.body)).data).toBe("now");
  });
});

test("a key locked by an open transaction delays no other publish", async () => {
  const tenant = await newTenant(a);
  const keyed = paid(tenant, { idempotencyKey: "held" });
  const client = await pool.connect();
  await client.query("begin");
  const first = await a.hooks.publish(keyed, { tx: client });
  const again = [a.hooks.publish(keyed), a.hooks.publish(keyed), a.hooks.publish(keyed)];
  const others = await Promise.all([
    a.hooks.publish(paid(tenant)),
    a.hooks.publish(paid(tenant, { idempotencyKey: "free" })),
  ]);
  expect(others.map(({ duplicate }) => duplicate)).toEqual([false, false]);
  await client.query("commit");
  client.release();
  for (const result of await Promise.all(again))
    expect(result).toMatchObject({ id: first.id, duplicate: true });
});
