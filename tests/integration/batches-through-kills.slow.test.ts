// kill -9 of workers while batches are collected, created and sent: every event is in exactly one batch, and a batch that
// is sent again is the same, byte for byte.
import { decodeBatch } from "@posthorn/wire";
import { expect, onTestFinished, test } from "vitest";
import { queueEmpty } from "../support/database/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";

const KILLS = 6;

test(`${KILLS} kills of a worker lose no event, send none in two batches, and change no batch`, async () => {
  const receiver = await startReceiver();
  // so that some are interrupted, and some are retried
  receiver.answer("/in", [
    ...Array.from({ length: 300 }, (_, n) => (n % 5 === 0 ? 500 : { delayMs: 40 })),
    200,
  ]);
  const endpoint = {
    url: `${receiver.url}/in`,
    events: ["*"],
    format: "cloudevents-batch",
    batch: { maxEvents: 7, maxDelayMs: 50 },
  } as const;
  const { pool, open, startWorker } = await openWorkerWorld({ onTestFinished }, [endpoint], {
    retryPolicy: Array(20).fill("100ms").join(","),
    circuitFailures: 0,
    circuitFailurePercent: 0,
    leaseMs: 2_000,
  });
  const api = await open("api");
  const workers = [startWorker(), startWorker()];
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
    // while events are at every stage: some sent, some in a batch, some collected
    await receiver.received(before + 2, { timeoutMs: 20_000 });
    await workers[kill % 2]?.kill();
    workers[kill % 2] = startWorker(); // starts while the other one works
  }
  await eventually("nothing is collected any more", async () => {
    const { rows } = await pool.query("select count(*)::integer as count from posthorn.pending_batch_events");
    return rows[0]?.count === 0;
  });
  await queueEmpty(pool);

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
});
