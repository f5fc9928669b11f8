// stop(): attempts in flight end and are recorded, the rest is released, and the remaining processes continue
// at once. Nothing is lost, sent twice or recorded as unknown.
import type pg from "pg";
import { createPosthorn, type Posthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase, queueEmpty } from "../support/database/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { audit, startTestReceiver, untouched } from "../support/servers/test-receiver.ts";

const cap = 5;

test("stop() waits for attempts in flight, releases the rest, and another instance continues at once", async () => {
  const { pool, receiver, open } = await openWorld(["/a"]);
  const leaving = await open("all", "leaving");
  receiver.hold = ({ sender }) => sender === "leaving";
  const ids = await publish(leaving, 40);
  await receiver.until("a full lane", () => receiver.arrivals.length === cap);
  await open("all", "staying");

  const stopped = leaving.stop();
  expect(await leaving.health()).toEqual({ ready: false, reason: "stopping" });
  await expect(leaving.publish(event)).rejects.toMatchObject({ code: "stopped" });
  await eventually("the rest is released", async () => (await claimed(pool)) === cap);
  expect(receiver.arrivals).toHaveLength(cap); // the limit holds: no other instance sends meanwhile

  receiver.release();
  await stopped;
  await receiver.until("all of them", () => ids.every((id) => receiver.eventsAt("/a").has(id)));
  await queueEmpty(pool);
  expect(await audit(pool, receiver)).toMatchObject({ ...untouched, deliveries: 40, attempts: 40 });
  expect(receiver.maxOpen.get("/a")).toBe(cap);
});

test("one slow receiver does not delay the other lanes of a stopping instance", async () => {
  const { pool, receiver, open } = await openWorld(["/slow", "/quick"]);
  const leaving = await open("all", "leaving");
  receiver.hold = ({ path }) => path === "/slow";
  await publish(leaving, 3);
  await receiver.until("both lanes in use", () => receiver.eventsAt("/quick").size === 3);
  const staying = await open("all", "staying");

  const stopped = leaving.stop();
  const [id] = await publish(staying, 1);
  await receiver.until("the quick one, while the slow ones last", () =>
    receiver.eventsAt("/quick").has(id as string),
  );
  expect(receiver.eventsAt("/slow").size).toBe(0);
  receiver.release();
  await stopped;
  await queueEmpty(pool);
  expect(await audit(pool, receiver)).toMatchObject(untouched);
});

test("attempts that outlast the grace period are aborted, recorded as unknown and sent again by another instance", async () => {
  const { pool, receiver, open } = await openWorld(["/a"]);
  const leaving = await open("all", "leaving");
  receiver.hold = ({ sender }) => sender === "leaving";
  const ids = await publish(leaving, 20);
  await receiver.until("a full lane", () => receiver.arrivals.length === cap);
  await open("all", "staying");
  await leaving.stop({ graceMs: 100 });
  await receiver.until("all of them", () => ids.every((id) => receiver.eventsAt("/a").has(id)));
  await queueEmpty(pool);
  expect(await audit(pool, receiver)).toMatchObject({ ...untouched, unknown: cap });
});

test("stop() works twice, before start(), during start(), and without the database", async () => {
  const { pool, options } = await openWorld(["/a"]);
  const never = createPosthorn(options);
  await never.stop();
  await never.stop();

  const early = createPosthorn(options);
  await Promise.all([early.start(), early.stop()]);
  await expect(early.start()).rejects.toThrow("create a new one");

  const twice = createPosthorn(options);
  await Promise.all([twice.start(), twice.start()]);
  await Promise.all([twice.stop(), twice.stop()]);
  expect((await pool.query("select name from posthorn.workers")).rows).toEqual([]);

  const database = await createMigratedDatabase();
  const late = createPosthorn({ ...options, database: database.connectionString });
  await late.start();
  await database.drop();
  await late.stop();
});

const event = { tenant: "acme", type: "order.paid", data: { text: "hello" } };

async function openWorld(paths: readonly string[]) {
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  const endpoints = paths.map((path) => ({ url: receiver.url + path, events: ["*"] }));
  // no lease expires and no attempt times out here
  const settings = { endpointConcurrency: cap, leaseMs: 600_000, timeoutMs: 60_000 };
  return { receiver, ...(await openWorkerWorld({ onTestFinished }, endpoints, settings)) };
}

async function publish(hooks: Posthorn, count: number): Promise<string[]> {
  const published = await Promise.all(Array.from({ length: count }, () => hooks.publish(event)));
  return published.map(({ id }) => id);
}

async function claimed(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    "select count(*)::integer as count from posthorn.unfinished where claimed_by is not null",
  );
  return rows[0].count;
}
