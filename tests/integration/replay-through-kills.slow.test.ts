// kill -9 of the worker that runs a replay, three times: the next one continues after the last committed step, skips none,
// repeats none, and counts each outcome once.
import { expect, onTestFinished, test } from "vitest";
import { queueEmpty } from "../support/database/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { openWorkerWorld } from "../support/processes/worker-world.ts";
import { startTestReceiver } from "../support/servers/test-receiver.ts";

const count = 4_000;

test("a replay continues after its worker was killed", { timeout: 90_000 }, async () => {
  const receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
  const endpoints = [{ url: `${receiver.url}/in`, events: ["*"] }];
  const { pool, open, startWorker } = await openWorkerWorld({ onTestFinished }, endpoints, {
    endpointConcurrency: 50,
    leaseMs: 2_000,
  });
  const hooks = await open("api");
  await pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(now() - n * interval '1 second'), 'acme', 'order.paid', '1', '1'
       from generate_series(1, $1::integer) n
       returning id
     )
     insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
     select made.id, made.id, e.id, 'dead', 'rejected', 0, 0, now() from made, posthorn.endpoints e`,
    [count],
  );

  const { id } = await hooks.replays.start({ rate: 500 });
  let done = 0;
  for (let kill = 0; kill < 3; kill += 1) {
    const worker = startWorker();
    const before = done;
    await eventually("progress", async () => {
      ({ done } = await hooks.replays.get(id));
      return done > before;
    });
    await worker.kill();
    const { state } = await hooks.replays.get(id);
    expect(state).toBe("running");
  }
  startWorker();
  await eventually("it is finished", async () => (await hooks.replays.get(id)).state === "finished");
  await queueEmpty(pool);

  expect(await hooks.replays.get(id)).toMatchObject({
    total: count,
    done: count,
    skipped: {},
    outcomes: { delivered: count, failed: 0, dead: 0, waiting: 0, replayedAgain: 0, inBatches: 0 },
  });
  const { rows } = await pool.query(
    "select state, replay_count, count(*)::integer from posthorn.delivery_states group by 1, 2",
  );
  expect(rows).toEqual([{ state: "success", replay_count: 1, count }]);
});
