// Runs the receiver's examples that need a database, unchanged: the snippets of the guide and the reference work when pasted.
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { postgresStore } from "@posthorn/receiver/postgres";
import {
  createSender,
  type EventToSend,
  type SenderOptions,
  signedRequest,
} from "@posthorn/receiver/testing";
import { generateSecret } from "@posthorn/wire";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../benchmarks/system/ports.ts";
import type { PrismaClient } from "../../examples/receiver/generated-prisma.ts";
import { createDatabase, createPool } from "../support/database/postgres.ts";
import { findProgram, startRedisServer, withoutRedis } from "../support/processes/system-programs.ts";
import { createPrismaClient } from "../support/receiver/prisma-client.ts";
import { startTestHub } from "../support/receiver/websub.ts";
import { serving } from "../support/servers/http.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const secret = generateSecret();
const order = { type: "order.paid", data: { order: "order-1", total: 12 } };
let pool: pg.Pool;
let connectionString: string;

type Receive = SenderOptions["receive"];

/** Not dropped: the examples keep their pools, and the server of this run ends with it. */
beforeAll(async () => {
  connectionString = (await createDatabase()).connectionString;
  vi.stubEnv("DATABASE_URL", connectionString);
  for (const name of ["WEBHOOK_SECRET", "STRIPE_SECRET"]) vi.stubEnv(name, secret);
  pool = createPool(connectionString);
  await postgresStore(pool).migrate();
  await pool.query(`
    create table payments (event text primary key, data jsonb not null);
    create table orders (id text primary key, state text not null);
    create table seen (id text primary key);
  `);
  for (const output of ["log", "error"] as const) vi.spyOn(console, output).mockReturnValue();
});
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
beforeEach(async () => {
  await pool.query("truncate payments, orders, posthorn_receiver.messages, posthorn_receiver.subjects");
});

const waitingForPayments =
  "select count(*)::integer as count from pg_locks where not granted and relation = 'payments'::regclass";
const payments = async () => (await pool.query("select event, data from payments")).rows;

describe("the examples at the start of the guide", () => {
  test.each<[name: string, receive: () => Promise<Receive>]>([
    [
      "express-postgres",
      async () => serving((await import("../../examples/receiver/express-postgres.ts")).app),
    ],
    ["next-app-postgres", async () => (await import("../../examples/receiver/next-app-postgres.ts")).POST],
    ["next-pages", async () => serving((await import("../../examples/receiver/next-pages.ts")).default)],
    ["drizzle", async () => (await import("../../examples/receiver/drizzle.ts")).receiver.fetch],
    ["kysely", async () => (await import("../../examples/receiver/kysely.ts")).receiver.fetch],
    ["knex", async () => (await import("../../examples/receiver/knex.ts")).receiver.fetch],
    [
      "prisma",
      async () => {
        const { paymentsReceiver } = await import("../../examples/receiver/prisma.ts");
        return paymentsReceiver(createPrismaClient(connectionString) as unknown as PrismaClient).fetch;
      },
    ],
  ])(
    "%s.ts books ten concurrent deliveries of a payment once and rejects a changed one",
    async (_, receive) => {
      const sender = createSender({ secret, receive: await receive() });
      const attempts = await sender.atOnce(order, 10);
      expect(attempts.every(({ status }) => status === 200 || status === 409)).toBe(true);
      expect(attempts.filter(({ status, isDuplicate }) => status === 200 && !isDuplicate)).toHaveLength(1);
      expect(await payments()).toEqual([
        { event: attempts[0]?.sent.headers["X-Webhook-Id"], data: order.data },
      ]);
      expect((await sender.tamper(order)).status).toBe(401);
    },
  );

  test("by-hand.ts, which the receiver replaces, verifies and books as well", async () => {
    const { app } = await import("../../examples/receiver/by-hand.ts");
    const sender = createSender({ secret, receive: await serving(app) });
    expect((await sender.duplicate(order)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await payments()).toHaveLength(1);
    expect((await sender.tamper(order)).status).toBe(401);
    expect((await sender.late(order)).status).toBe(401);
  });
});

test("old-table.ts does not book events that the previous endpoint booked", async () => {
  const { receiver } = await import("../../examples/receiver/old-table.ts");
  const sender = createSender({ secret, receive: receiver.fetch });
  await pool.query("insert into seen (id) values ('evt_old')");
  expect((await sender.send({ ...order, id: "evt_old" })).status).toBe(200);
  expect(await payments()).toEqual([]);
  expect((await sender.send({ ...order, id: "evt_new" })).status).toBe(200);
  expect(await payments()).toEqual([{ event: "evt_new", data: order.data }]);
});

test("next-app-postgres.ts is loaded without a secret, as next build does", async () => {
  vi.resetModules();
  vi.stubEnv("WEBHOOK_SECRET", undefined);
  const { POST } = await import("../../examples/receiver/next-app-postgres.ts");
  vi.stubEnv("WEBHOOK_SECRET", secret);
  expect((await POST(await signedRequest({ secret, ...order }))).status).toBe(200);
});

test("lease.ts sends one mail for an order", async () => {
  const { receiver } = await import("../../examples/receiver/lease.ts");
  const { sent } = await import("../../examples/receiver/mail.ts");
  const attempts = await createSender({ secret, receive: receiver.fetch }).duplicate(order);
  expect(attempts.map(({ status }) => status)).toEqual([200, 200]);
  expect([...sent.values()]).toEqual(["Thank you!"]);
});

test("inbox.ts responds with 202, books the payment afterwards, and finishes its work at SIGTERM", async () => {
  vi.stubEnv("PORT", "0");
  const { server } = await import("../../examples/receiver/inbox.ts");
  const [end] = process.listeners("SIGTERM").slice(-1) as (() => Promise<void>)[];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { send } = createSender({ secret, receive: fetch, url });
  expect((await send(order)).status).toBe(202);
  await expect.poll(payments).toHaveLength(1);
  const holder = await pool.connect();
  await holder.query("begin; lock table payments");
  expect((await send(order)).status).toBe(202);
  await expect.poll(async () => (await pool.query(waitingForPayments)).rows[0].count).toBe(1);
  process.removeListener("SIGTERM", end as () => void);
  const ended = end?.();
  await expect.poll(() => server.listening).toBe(false);
  await holder.query("rollback");
  holder.release();
  await ended;
  expect(await payments()).toHaveLength(2);
});

test("dead-letters.ts stores events that cannot be booked, and replays each once, oldest first", async () => {
  const { receiver, replayAll } = await import("../../examples/receiver/dead-letters.ts");
  const sender = createSender({ secret, receive: receiver.fetch });
  const refused = { ...order, data: { total: -1 } };
  const ids = Array.from({ length: 101 }, (_, index) => `evt_${1000 + index}`); // one more than a page
  for (const id of ids) {
    const { status, body } = await sender.send({ ...refused, id });
    expect({ status, body: JSON.parse(body) }).toEqual({ status: 200, body: { status: "dead" } });
  }
  expect(await receiver.deadLetters.count()).toBe(101);
  vi.mocked(console.log).mockClear();
  await replayAll();
  expect(vi.mocked(console.log).mock.calls).toEqual(ids.map((id) => [id, "failed"]));
});

test("ordered.ts drops events that are older than the last applied one", async () => {
  const { receiver } = await import("../../examples/receiver/ordered.ts");
  const sender = createSender({ secret, receive: receiver.fetch });
  const nth = (sequence: number, type: string): EventToSend => ({ type, subject: "order-1", sequence });
  expect((await sender.send(nth(2, "order.shipped"))).status).toBe(409); // the first may be on its way
  expect((await sender.send(nth(1, "order.paid"))).status).toBe(200);
  expect((await sender.send(nth(2, "order.shipped"))).status).toBe(200);
  expect(JSON.parse((await sender.send(nth(1, "order.paid"))).body)).toEqual({ status: "stale" });
  expect((await pool.query("select state from orders")).rows).toEqual([{ state: "order.shipped" }]);
});

test("from-stripe.ts books events that stripe-by-hand.ts only verifies", async () => {
  vi.stubEnv("STRIPE_KEY", "sk_test");
  const invoice = { id: "evt_1", object: "event", type: "invoice.paid", data: { object: { id: "in_1" } } };
  const event: EventToSend = { vendor: "stripe", payload: invoice };
  const { app: before } = await import("../../examples/receiver/stripe-by-hand.ts");
  expect((await createSender({ secret, receive: await serving(before) }).send(event)).status).toBe(200);
  const { app } = await import("../../examples/receiver/from-stripe.ts");
  const attempts = await createSender({ secret, receive: await serving(app) }).duplicate(event);
  expect(attempts.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
  expect(await payments()).toEqual([{ event: "evt_1", data: { id: "in_1" } }]);
});

test("write-migrations.ts writes SQL that creates the schema, and migrate() has nothing to do", async () => {
  const folder = join(makeTemporaryFolder(), "db", "migrations");
  vi.stubEnv("MIGRATIONS_FOLDER", folder); // which it makes
  await import("../../examples/receiver/write-migrations.ts");
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const own = createPool(database.connectionString);
  onTestFinished(() => own.end());
  const files = readdirSync(folder).toSorted();
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) await own.query(readFileSync(join(folder, file), "utf8"));
  const applied = "select version, applied_at from posthorn_receiver.versions";
  const { rows } = await own.query(applied);
  await postgresStore(own).migrate();
  expect((await own.query(applied)).rows).toEqual(rows);
});

test("sqlite.ts books a payment once", async () => {
  vi.stubEnv("DATABASE_FILE", join(makeTemporaryFolder(), "shop.db"));
  const { POST } = await import("../../examples/receiver/sqlite.ts");
  const attempts = await createSender({ secret, receive: POST }).duplicate(order);
  expect(attempts.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
});

test("websub.ts subscribes to a feed and stores its content", async () => {
  const hub = await startTestHub();
  const feed = hub.page("/feed", { headers: { link: `<${hub.url}/hub>; rel="hub"` }, body: "<feed/>" });
  const port = await freePort();
  for (const [name, value] of Object.entries({
    PORT: `${port}`,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    FEED_URL: feed,
  })) {
    vi.stubEnv(name, value);
  }
  await pool.query("create table feeds (topic text primary key, type text, content bytea)");
  const { server, subscriber } = await import("../../examples/receiver/websub.ts");
  onTestFinished(() => subscriber.stop());
  onTestFinished(() => void server.close().closeAllConnections());
  // the renewer may have taken over the request
  await expect.poll(() => hub.requests).toHaveLength(1);
  expect((await hub.verify(hub.last)).status).toBe(200);
  for (const body of ["<feed>1</feed>", "<feed>2</feed>"]) await hub.distribute(hub.last, body);
  await hub.distribute(hub.last, "forged", { signature: null });
  expect((await pool.query("select topic, type, content from feeds")).rows).toEqual([
    { topic: feed, type: "application/atom+xml", content: Buffer.from("<feed>2</feed>") },
  ]);
});

const program = findProgram("redis-server");

test.skipIf(program === null)(`redis.ts detects a duplicate (${withoutRedis})`, async () => {
  const server = await startRedisServer(program as string);
  onTestFinished(() => server.close());
  vi.stubEnv("REDIS_URL", server.path);
  const { receiver, redis } = await import("../../examples/receiver/redis.ts");
  onTestFinished(() => redis.disconnect());
  const attempts = await createSender({ secret, receive: receiver.fetch }).duplicate(order);
  expect(attempts.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
});
