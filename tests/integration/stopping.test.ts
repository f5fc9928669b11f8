// What stop() and SIGTERM promise: what is in flight ends and is written down, the rest goes back, and whoever is left
// takes over at once. Nothing is lost, doubled or recorded as unknown.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { createPosthorn, type Posthorn, type PosthornOptions } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { audit, nothingOwed } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import { isQuick } from "../support/matrix.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { startTestReceiver } from "../support/test-receiver.ts";
import { startWorker } from "../support/worker-process.ts";

const untouched = {
  unknown: 0,
  duplicates: 0,
  unexplained: [],
  unrecorded: [],
  misnumbered: [],
  unfinished: [],
};
const cap = 5;
const lives = isQuick ? 2 : 4;

test("stop() waits for what is in flight, gives back the rest, and another instance goes on at once", async () => {
  const { pool, receiver, open } = await openWorld(["/a"]);
  const leaving = await open("leaving");
  receiver.hold = ({ sender }) => sender === "leaving";
  const ids = await publish(leaving, 40);
  await receiver.until("a full lane", () => receiver.arrivals.length === cap);
  await open("staying");

  const stopped = leaving.stop();
  expect(await leaving.health()).toEqual({ ready: false, reason: "stopping" });
  await expect(leaving.publish(event)).rejects.toMatchObject({ code: "stopped" });
  await eventually("the rest is given back", async () => (await claimed(pool)) === cap);
  expect(receiver.arrivals).toHaveLength(cap); // the endpoint's cap holds: nobody else sends while they last

  receiver.release();
  await stopped;
  await receiver.until("all of them", () => ids.every((id) => receiver.eventsAt("/a").has(id)));
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject({ ...untouched, deliveries: 40, attempts: 40 });
  expect(receiver.maxOpen.get("/a")).toBe(cap);
});

test("one slow receiver does not keep the other lanes of a stopping instance waiting", async () => {
  const { pool, receiver, open } = await openWorld(["/slow", "/quick"]);
  const leaving = await open("leaving");
  receiver.hold = ({ path }) => path === "/slow";
  await publish(leaving, 3);
  await receiver.until("both lanes in use", () => receiver.eventsAt("/quick").size === 3);
  const staying = await open("staying");

  const stopped = leaving.stop();
  const [id] = await publish(staying, 1);
  await receiver.until("the quick one, while the slow ones last", () =>
    receiver.eventsAt("/quick").has(id as string),
  );
  expect(receiver.eventsAt("/slow").size).toBe(0);
  receiver.release();
  await stopped;
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject(untouched);
});

test("what outlasts the grace is broken off, recorded as unknown and sent again by another", async () => {
  const { pool, receiver, open } = await openWorld(["/a"]);
  const leaving = await open("leaving");
  receiver.hold = ({ sender }) => sender === "leaving";
  const ids = await publish(leaving, 20);
  await receiver.until("a full lane", () => receiver.arrivals.length === cap);
  await open("staying");
  await leaving.stop({ graceMs: 100 });
  await receiver.until("all of them", () => ids.every((id) => receiver.eventsAt("/a").has(id)));
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject({ ...untouched, unknown: cap });
});

test("SIGTERM ends worker processes one after the other under load: exit code 0, nothing doubled", async () => {
  const { pool, receiver, open, options } = await openWorld(["/a", "/b"]);
  receiver.answerAfterMs = () => 5 + Math.random() * 20;
  const api = await open("api", "api");
  let worker = startWorker({ ...options, userAgent: "worker-0" });
  onTestFinished(() => worker.kill());
  await worker.started;
  const ids: string[] = [];
  for (let life = 1; life <= lives; life += 1) {
    const next = startWorker({ ...options, userAgent: `worker-${life}` });
    onTestFinished(() => next.kill());
    ids.push(...(await publish(api, 200)));
    await next.started;
    await receiver.until(`deliveries by ${worker.name}`, () =>
      receiver.arrivals.some(({ sender }) => sender === worker.name),
    );
    expect(await worker.terminate()).toBe(0);
    worker = next;
  }
  await receiver.until("all of them", () =>
    ["/a", "/b"].every((path) => ids.every((id) => receiver.eventsAt(path).has(id))),
  );
  await nothingOwed(pool);
  expect(await audit(pool, receiver)).toMatchObject({
    ...untouched,
    deliveries: 400 * lives,
    attempts: 400 * lives,
  });
  expect(Math.max(...receiver.maxOpen.values())).toBe(cap);
});

test("stop() may come twice, before start(), during start(), and after the database has gone", async () => {
  const { database, options } = await openWorld(["/a"]);
  const never = createPosthorn(options);
  await never.stop();
  await never.stop();

  const early = createPosthorn(options);
  await Promise.all([early.start(), early.stop()]);
  await expect(early.start()).rejects.toThrow("create a new one");

  const twice = createPosthorn(options);
  await Promise.all([twice.start(), twice.start()]);
  await Promise.all([twice.stop(), twice.stop()]);
  const { rows } = await createPool(database.connectionString).query("select name from posthorn.workers");
  expect(rows).toEqual([]);

  const late = createPosthorn(options);
  await late.start();
  await database.drop();
  await late.stop();
});

const event = { tenant: "acme", type: "order.paid", data: { text: "hello" } };

async function openWorld(paths: readonly string[]) {
  const database = await createMigratedDatabase();
  onTestFinished(() => database.drop());
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  const options: PosthornOptions = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    endpointConcurrency: cap,
    // nothing here may wait for a lease to expire
    leaseMs: 600_000,
  };
  const owner = createPosthorn(options);
  await owner.migrate();
  await owner.tenants.upsert("acme", {});
  for (const path of paths) {
    await owner.endpoints.create("acme", { url: receiver.url + path, events: ["*"] });
  }
  await owner.stop();
  async function open(userAgent: string, role: "all" | "api" = "all"): Promise<Posthorn> {
    const hooks = createPosthorn({ ...options, userAgent });
    await hooks.start({ role });
    onTestFinished(() => hooks.stop({ graceMs: 0 }));
    return hooks;
  }
  return { database, pool: createPool(database.connectionString), receiver, options, open };
}

async function publish(hooks: Posthorn, count: number): Promise<string[]> {
  const published = await Promise.all(Array.from({ length: count }, () => hooks.publish(event)));
  return published.map(({ id }) => id);
}

async function claimed(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    "select count(*)::integer as count from posthorn.queue where claimed_by is not null",
  );
  return rows[0].count;
}
