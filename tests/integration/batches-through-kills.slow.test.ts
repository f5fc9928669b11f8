// kill -9 of workers while batches are collected, made and sent. The publisher and the receiver live in this process: every
// event is in exactly one batch, and a batch that comes again is the same batch, byte for byte.
import { randomBytes } from "node:crypto";
import { decodeBatch } from "@posthorn/wire";
import { createPosthorn, type PosthornOptions } from "posthorn";
import { startScriptedReceiver } from "posthorn/testing";
import { expect, onTestFinished, test } from "vitest";
import { nothingOwed } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { startWorker } from "../support/worker-process.ts";

const KILLS = 6;

test(`${KILLS} kills of a worker lose no member, send none in two batches, and change no batch`, async () => {
  const database = await createMigratedDatabase();
  onTestFinished(() => database.drop());
  const receiver = await startScriptedReceiver();
  onTestFinished(() => receiver.close());
  // so that some are cut off in the middle, and some are tried again
  receiver.answer("/in", [
    ...Array.from({ length: 300 }, (_, n) => (n % 5 === 0 ? 500 : { delayMs: 40 })),
    200,
  ]);
  const options = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    retryPolicy: Array(20).fill("100ms").join(","),
    circuitFailures: 0,
    circuitFailurePercent: 0,
    leaseMs: 2_000,
  } satisfies PosthornOptions;
  const api = createPosthorn(options);
  await api.migrate();
  await api.tenants.upsert("acme", {});
  await api.endpoints.create("acme", {
    url: `${receiver.url}/in`,
    events: ["*"],
    format: "cloudevents-batch",
    batch: { maxEvents: 7, maxDelayMs: 50 },
  });
  await api.start({ role: "api" });
  onTestFinished(() => api.stop());

  const workers = [raise(0), raise(1)];
  await Promise.all(workers.map((worker) => worker.started));
  const published: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = receiver.requests.length;
    for (let n = 0; n < 10; n += 1) {
      const outcomes = await api.publishMany(
        Array.from({ length: 5 }, () => ({ tenant: "acme", type: "order.paid", data: published.length })),
      );
      for (const outcome of outcomes) if (outcome.ok) published.push(outcome.result.id);
    }
    // in the middle of what was just published: some of it is sent, some made, some collected
    await receiver.received(before + 2, { timeoutMs: 20_000 });
    await workers[kill % 2]?.kill();
    workers[kill % 2] = raise(kill + 2);
    await workers[kill % 2]?.started;
  }
  const pool = createPool(database.connectionString);
  await eventually("nothing is collected any more", async () => {
    const { rows } = await pool.query("select count(*)::integer as count from posthorn.pending_batch_events");
    return rows[0]?.count === 0;
  });
  await nothingOwed(pool);

  const bodies = new Map<string, string>();
  for (const { headers, body } of receiver.requests) {
    const id = String(headers["webhook-id"]);
    expect(bodies.get(id) ?? body.toString()).toBe(body.toString());
    bodies.set(id, body.toString());
  }
  const sent = [...bodies.values()].flatMap((body) => {
    const decoded = decodeBatch(new TextEncoder().encode(body));
    return decoded.ok ? decoded.value.map(({ event }) => event.id) : [];
  });
  expect(published).toHaveLength(KILLS * 50);
  expect(sent.toSorted()).toEqual(published.toSorted());
  const { rows } = await pool.query<{ state: string; count: number }>(
    "select state, count(*)::integer as count from posthorn.delivery_states group by state",
  );
  expect(rows).toEqual([{ state: "success", count: bodies.size }]);

  function raise(number: number) {
    const worker = startWorker({ ...options, userAgent: `worker-${number}` });
    onTestFinished(() => worker.kill());
    return worker;
  }
});
