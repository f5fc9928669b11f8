// kill -9 of the process that carries a replay on, in the middle of it, three times: the next one goes on where the last
// committed step left it, skips none and repeats none.
import { randomBytes } from "node:crypto";
import { createPosthorn } from "posthorn";
import { expect, onTestFinished, test } from "vitest";
import { nothingOwed } from "../support/audit.ts";
import { eventually } from "../support/eventually.ts";
import { createMigratedDatabase, createPool } from "../support/postgres.ts";
import { startTestReceiver } from "../support/test-receiver.ts";
import { startWorker } from "../support/worker-process.ts";

const count = 4_000;

test("a replay survives the death of whoever carries it on", { timeout: 90_000 }, async () => {
  const database = await createMigratedDatabase();
  const pool = createPool(database.connectionString);
  const receiver = await startTestReceiver();
  const options = {
    database: database.connectionString,
    encryptionKeys: `test:${randomBytes(32).toString("base64")}`,
    allowHttp: true,
    allowCidrs: ["127.0.0.0/8"],
    endpointConcurrency: 50,
    leaseMs: 2_000,
  };
  const hooks = createPosthorn(options);
  let worker: ReturnType<typeof startWorker> | undefined;
  onTestFinished(async () => {
    await worker?.kill();
    await hooks.stop();
    await receiver.close();
    await pool.end();
    await database.drop();
  });
  await hooks.migrate();
  await hooks.tenants.upsert("acme");
  const { endpoint } = await hooks.endpoints.create("acme", { url: `${receiver.url}/in`, events: ["*"] });
  await pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, payload)
       select posthorn.uuidv7(now() - n * interval '1 second'), 'acme', 'order.paid', '1', '1'
       from generate_series(1, $2::integer) n
       returning id
     )
     insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at)
     select id, id, $1, 'dead', 'rejected', 0, 0, now() from made`,
    [endpoint.id.slice(3), count],
  );

  const { id } = await hooks.replays.start({ rate: 1_000 });
  let done = 0;
  for (let kill = 0; kill < 3; kill += 1) {
    worker = startWorker({ ...options, userAgent: `worker-${kill}` });
    const before = done;
    await eventually("it has come further", async () => {
      ({ done } = await hooks.replays.get(id));
      return done > before;
    });
    await worker.kill();
    const { state } = await hooks.replays.get(id);
    expect(state).toBe("running");
  }
  worker = startWorker({ ...options, userAgent: "the last one" });
  await eventually("it is finished", async () => (await hooks.replays.get(id)).state === "finished");
  await nothingOwed(pool);

  expect(await hooks.replays.get(id)).toMatchObject({ total: count, done: count, skipped: {} });
  const { rows } = await pool.query(
    "select state, replay_count, count(*)::integer from posthorn.delivery_states group by 1, 2",
  );
  expect(rows).toEqual([{ state: "success", replay_count: 1, count }]);
});
