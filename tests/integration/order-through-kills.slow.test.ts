// kill -9 of one of two workers, over and over, while events of many subjects go to a fifo endpoint. The receiver and
// the publishers live in this process; what they saw is the evidence.
import { randomBytes } from "node:crypto";
import { createPosthorn, type PosthornOptions } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { nothingOwed } from "../support/audit.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { startTestReceiver } from "../support/test-receiver.ts";
import { startWorker, type WorkerProcess } from "../support/worker-process.ts";

const kills = 8;
const subjects = 12;

test(`${kills} kills of a worker: every subject arrives in order, an event again only before its successor`, {
  timeout: 120_000,
}, async () => {
  const database = await createMigratedDatabase();
  onTestFinished(() => database.drop());
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  const options = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    retryPolicy: "50ms,100ms,200ms,400ms,1s,1s,1s,1s",
    endpointConcurrency: 5,
    circuitFailures: 0,
    leaseMs: 2_000,
  } satisfies PosthornOptions;
  const api = createPosthorn(options);
  await api.migrate();
  await api.tenants.upsert("acme", {});
  for (const path of ["/one", "/two"]) {
    await api.endpoints.create("acme", { url: receiver.url + path, events: ["*"], ordering: "fifo" });
  }
  await api.start({ role: "api" });
  onTestFinished(() => api.stop());
  const pool = createPool(database.connectionString);
  onTestFinished(() => pool.end());

  // every seventh arrival fails at its first attempt
  receiver.answer = async ({ attempt }) => {
    // biome-ignore lint/plugin: paces the load
    await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 8));
    return attempt === 1 && receiver.arrivals.length % 7 === 0 ? 503 : 200;
  };
  let raised = 0;
  const raise = (): WorkerProcess => {
    raised += 1;
    const worker = startWorker({ ...options, userAgent: `worker-${raised}` });
    onTestFinished(() => worker.kill());
    return worker;
  };
  const workers = [raise(), raise()];
  await Promise.all(workers.map((worker) => worker.started));

  let isStopped = false;
  let published = 0;
  const publishing = Promise.all(
    Array.from({ length: 6 }, async (_, publisher) => {
      for (let round = 0; !isStopped; round += 1) {
        const subject = `s-${(publisher * 5 + round) % subjects}`;
        const input = { tenant: "acme", type: "order.paid", data: round, subject };
        if (publisher % 3 === 0) {
          const client = await pool.connect();
          await client.query("begin");
          await api.publish(input, { tx: client });
          await client.query("commit");
          client.release();
        } else await api.publish(input);
        published += 1;
        const goal = 2 * (published - 60);
        await receiver.until("the backlog to shrink", () => isStopped || receiver.arrivals.length >= goal);
      }
    }),
  );
  for (let killed = 0; killed < kills; killed += 1) {
    const seen = receiver.arrivals.length;
    await receiver.until("more arrivals", () => receiver.arrivals.length > seen + 100);
    const [victim] = workers.splice(killed % 2, 1) as [WorkerProcess];
    await victim.kill();
    workers.push(raise());
    await workers[1]?.started;
  }
  isStopped = true;
  await publishing;
  await nothingOwed(pool);

  expect(receiver.disorder()).toEqual([]);
  expect(receiver.overlaps).toEqual([]);
  for (const path of ["/one", "/two"]) {
    for (let n = 0; n < subjects; n += 1) {
      const arrived = [...new Set(receiver.sequences(path, `s-${n}`))];
      expect(arrived).toEqual(Array.from({ length: arrived.length }, (_, index) => index + 1));
    }
    expect(
      new Set(receiver.arrivals.filter((arrival) => arrival.path === path).map(({ eventId }) => eventId))
        .size,
    ).toBe(published);
  }
  const { rows } = await pool.query(
    "select count(*)::integer as count from posthorn.attempts where error = 'unknown'",
  );
  console.log(
    "order through kills:",
    JSON.stringify({ published, arrivals: receiver.arrivals.length, unknown: rows[0].count }),
  );
  expect(rows[0].count).toBeGreaterThan(0);
});
