// The backlog by what it waits for: the same reasons as those of the deliveries, and what counting them costs.
import { WAIT_REASONS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { openResources, rowsRead } from "../../../../../tests/support/database/resources.ts";
import { installationGauges } from "../../storage/queries/installation/gauges.ts";
import { readBacklog } from "./backlog.ts";

const HOUR_MS = 3_600_000;

async function openBacklog() {
  const world = await openResources();
  const { pool, newEndpoint, addEvent, addQueued } = world;
  const read = async (isSending = true) =>
    await readBacklog(world.db, await installationGauges(world.db), isSending);
  /** Queued deliveries of a new endpoint, due for the given time, after these statements about the endpoint. */
  const queue = async (count: number, dueForMs: number, ...changes: readonly string[]) => {
    const { tenant, id, uuid } = await newEndpoint();
    for (let n = 0; n < count; n += 1)
      await addQueued(await addEvent(tenant, { atMs: Date.now() - dueForMs }), id);
    await pool.query(
      "update posthorn.queue set next_at = now() - $2 * interval '1 millisecond' where endpoint_id = $1",
      [uuid, dueForMs],
    );
    await pool.query(
      "update posthorn.lanes set ready_at = now() - interval '1 hour' where endpoint_id = $1",
      [uuid],
    );
    for (const change of changes) await pool.query(change, [uuid]);
    return { tenant, id, uuid };
  };
  return { ...world, read, queue };
}

const OPEN = (
  interval: string,
) => `insert into posthorn.endpoint_health (endpoint_id, consecutive_failures, trips, throttles, probe_at)
  values ($1, 1, 1, 0, now() + interval '${interval}')`;
const THROTTLED = `insert into posthorn.endpoint_health (endpoint_id, consecutive_failures, trips, throttles, throttled_until)
  values ($1, 1, 1, 1, now() + interval '1 hour')`;
const AT_CAP = `with w as (
    insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
    values (now() + interval '1 hour', false, 'test') returning id
  )
  update posthorn.lanes l set owner = w.id, limited_by = 'cap', limited_until = 'infinity', sending = '{}'
  from w where l.endpoint_id = $1`;

test("the backlog is counted as due, overdue and waiting for each reason, as the deliveries say", async () => {
  const { read, queue, deliveries } = await openBacklog();
  await queue(3, HOUR_MS);
  await queue(4, HOUR_MS, OPEN("10 minutes"));
  await queue(5, HOUR_MS, THROTTLED);
  await queue(6, HOUR_MS, AT_CAP);
  await queue(
    7,
    -HOUR_MS,
    "update posthorn.queue set failures = 1, trigger = 'retry' where endpoint_id = $1",
  );
  await queue(8, HOUR_MS, "update posthorn.queue set next_at = 'infinity' where endpoint_id = $1");
  await queue(9, HOUR_MS, "update posthorn.endpoints set is_active = false where id = $1");
  await queue(
    10,
    HOUR_MS,
    "update posthorn.tenants set is_active = false where id = (select tenant from posthorn.endpoints where id = $1)",
  );
  await queue(
    11,
    HOUR_MS,
    "insert into posthorn.endpoint_handshakes (endpoint_id, origin, state, callback_token) values ($1, 'a.example', 'denied', 'x')",
  );
  // last, because they are overdue after a minute
  await queue(2, 1_000);
  await queue(1, 1_000, "update posthorn.queue set claimed_by = 1000 where endpoint_id = $1");
  const backlog = await read();
  expect(backlog).toMatchObject({ count: 66, isExact: true, inFlight: 1, due: 5, overdue: 3 });
  expect(backlog.waiting).toEqual({
    circuit: 4,
    rate_limit: 5,
    cap: 6,
    retry_delay: 7,
    ordering: 8,
    endpoint_disabled: 9,
    tenant_off: 10,
    handshake: 11,
    sending_off: 0,
  });
  const { data } = await deliveries.list({ limit: 250 });
  for (const reason of WAIT_REASONS)
    expect(data.filter(({ waitsFor }) => waitsFor?.reason === reason)).toHaveLength(backlog.waiting[reason]);
  expect(backlog.oldestDueAgeSeconds).toBeGreaterThanOrEqual(HOUR_MS / 1_000);
});

test("behind an open circuit nothing is overdue, and everything waits", async () => {
  const { read, queue } = await openBacklog();
  await queue(20, 2 * HOUR_MS, OPEN("1 minute"));
  expect(await read()).toMatchObject({
    count: 20,
    due: 0,
    overdue: 0,
    oldestDueAgeSeconds: 0,
    waiting: { circuit: 20 },
  });
});

test("a probe that nobody sends is overdue", async () => {
  const { read, queue } = await openBacklog();
  await queue(2, 2 * HOUR_MS, OPEN("-30 minutes"));
  const { overdue, oldestDueAgeSeconds } = await read();
  expect(overdue).toBe(2);
  expect(oldestDueAgeSeconds).toBeGreaterThan(1_700);
  expect(oldestDueAgeSeconds).toBeLessThan(2_000);
});

test("while delivery is off everything waits for that", async () => {
  const { read, queue } = await openBacklog();
  await queue(2, HOUR_MS);
  await queue(3, HOUR_MS, OPEN("1 minute"));
  expect(await read(false)).toMatchObject({
    count: 5,
    due: 0,
    overdue: 0,
    oldestDueAgeSeconds: 0,
    waiting: { sending_off: 5, circuit: 0 },
  });
});

test("of a long queue a sample is read, from which the parts are estimated", async () => {
  const { db, pool, read, newEndpoint, addBacklog } = await openBacklog();
  const [due, held] = [await newEndpoint(), await newEndpoint()];
  // alternating, like the events of two customers
  for (let part = 0; part < 20; part += 1) {
    await addBacklog(due.id, 2_000, Date.now() - HOUR_MS + 2 * part);
    await addBacklog(held.id, 6_000, Date.now() - HOUR_MS + 2 * part + 1);
  }
  await pool.query(OPEN("1 hour"), [held.uuid]);
  await pool.query("analyze posthorn.queue");
  const backlog = await read();
  expect(backlog.isExact).toBe(false);
  expect(Math.abs(backlog.count - 160_000)).toBeLessThan(10_000);
  expect(backlog.waiting.circuit / backlog.count).toBeGreaterThan(0.6);
  expect(backlog.waiting.circuit / backlog.count).toBeLessThan(0.9);
  expect(backlog.due / backlog.count).toBeGreaterThan(0.1);
  expect(Math.abs(backlog.due + backlog.waiting.circuit - backlog.count)).toBeLessThan(10);
  // twice about 4,000 rows for the sample and its waits, and 10,000 to see that there are more
  const rows = await rowsRead(db, "queue", async (tx) => {
    await readBacklog(tx, await installationGauges(tx), true);
  });
  expect(rows).toBeLessThan(25_000);
});
