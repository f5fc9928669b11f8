// Where settled attempts are stored, and how often the settle statement is planned.
import { lowestUuidAt, uuidv7 } from "@posthorn/wire";
import { beforeEach, expect, test } from "vitest";
import {
  addEndpoint,
  addWorker,
  type End,
  newEvent,
  openQueue,
  startAnew,
  tenant,
  toSettlement,
} from "../../../../tests/support/database/queue-world.ts";
import type { ClaimBatch, ClaimedDelivery, Event, Uuid } from "../model.ts";
import { Database } from "./database.ts";
import { newestAttempts } from "./queries/attempts.ts";
import { claim, type IngestBatch, ingest } from "./queries/events/ingest.ts";
import { write } from "./queries/events/write.ts";
import { addAllQueueRows, addQueueRows } from "./queries/queue/event-claims.ts";
import { fetch } from "./queries/queue/fetch.ts";
import { requeueDelivery } from "./queries/queue/requeue.ts";
import { requeueMany } from "./queries/queue/requeue-many.ts";
import { settle } from "./queries/queue/settle.ts";

const queue = openQueue();
let workerId: number;
let endpointId: Uuid;

beforeEach(async () => {
  await startAnew(queue);
  workerId = await addWorker(queue.db);
  endpointId = await addEndpoint(queue.db);
  await queue.pool.query("update posthorn.lanes set owner = $1", [workerId]);
});

async function batchOf(events: readonly Event[]): Promise<IngestBatch> {
  return {
    workerId,
    delivers: true,
    routes: new Map([[tenant, await routingVersion()]]),
    events,
    keys: [],
    outbox: [],
    deliveries: events.map(({ id }) => ({
      id,
      eventId: id,
      endpointId,
      claim: claim.mine,
      isOrdered: false,
      claimBatch: null,
    })),
    collected: [],
    foreignLanes: [],
    peerLanes: new Map(),
  };
}

/** Publishes events whose deliveries this worker has claimed. */
async function claimed(count: number): Promise<ClaimedDelivery[]> {
  const events = Array.from({ length: count }, () => newEvent());
  const { written } = await ingest(queue.db, await batchOf(events));
  expect(written).toBe(true);
  return events.map(toClaimed);
}

function toClaimed(event: Event): ClaimedDelivery {
  const rest = {
    attempts: 0,
    failures: 0,
    scheduleStartedMs: 0,
    trigger: "event",
    isOrdered: false,
    claimBatch: null,
  } as const;
  return { id: event.id, event, endpointId, ...rest };
}

async function routingVersion(): Promise<number> {
  const { rows } = await queue.pool.query("select routing_version::float8 as version from posthorn.tenants");
  return rows[0].version;
}

/** Returns the ids that were settled. */
async function settleAll(deliveries: readonly ClaimedDelivery[], ...ends: End[]): Promise<Set<Uuid>> {
  const refused = await settle(
    queue.db,
    workerId,
    deliveries.map((delivery, n) => toSettlement(delivery, ends[n % ends.length] as End)),
  );
  return new Set(deliveries.map(({ id }) => id).filter((id) => !refused.has(id)));
}

async function counts(): Promise<unknown> {
  const { rows } = await queue.pool.query(`
    select (select count(*) from posthorn.unfinished)::integer as queue,
      (select count(*) from posthorn.deliveries)::integer as deliveries,
      (select count(*) from posthorn.attempt_log)::integer as log,
      (select count(*) from posthorn.attempts)::integer as attempts`);
  return rows[0];
}

const attemptsOf = async ({ id }: ClaimedDelivery) =>
  (await newestAttempts(queue.db, id, 10, 10)).map(
    ({ number, statusCode, trigger, worker, responseBody }) => ({
      number,
      statusCode,
      trigger,
      isMine: worker === workerId,
      responseBody: String(responseBody),
    }),
  );

const success = { statusCode: 200, isMine: true, responseBody: "body" };

test("first successes are stored in the row of their delivery, other attempts in the log", async () => {
  const deliveries = await claimed(8);
  expect((await settleAll(deliveries, "delivered", "dead", "delivered", "retry")).size).toBe(8);
  expect(await counts()).toEqual({ queue: 2, deliveries: 6, log: 4, attempts: 8 });
  expect(await attemptsOf(deliveries[0] as ClaimedDelivery)).toMatchObject([{ number: 1, ...success }]);
});

test("a delivery that is sent again keeps its first attempt", async () => {
  const [byHand, byReplay] = (await claimed(2)) as [ClaimedDelivery, ClaimedDelivery];
  await settleAll([byHand, byReplay], "delivered");
  await requeueDelivery(queue.db, byHand.id);
  const ended = [{ id: byReplay.id, subject: null, sequence: null }];
  expect(
    await requeueMany(queue.db, { replayId: uuidv7(), ended, failed: [], endedByMs: Date.now() + 60_000 }),
  ).toBe(1);
  expect(await counts()).toEqual({ queue: 2, deliveries: 0, log: 2, attempts: 2 });

  const fetched = await fetch(queue.db, workerId, [{ endpointId, maxRows: 10 }]);
  await settleAll(
    fetched.deliveries.map(({ delivery }) => delivery),
    "delivered",
  );
  expect(await counts()).toEqual({ queue: 0, deliveries: 2, log: 4, attempts: 4 });
  const first = { number: 1, trigger: "event", ...success };
  expect(await attemptsOf(byHand)).toEqual([{ number: 2, trigger: "manual", ...success }, first]);
  expect(await attemptsOf(byReplay)).toEqual([{ number: 2, trigger: "replay", ...success }, first]);
});

test("a settlement sent twice, or by a worker that does not own the delivery, changes nothing", async () => {
  const [settled, resent, stolen, mine] = (await claimed(4)) as [
    ClaimedDelivery,
    ClaimedDelivery,
    ClaimedDelivery,
    ClaimedDelivery,
  ];
  await settleAll([settled, resent], "delivered");
  // the same worker has claimed it for a manual retry
  await requeueDelivery(queue.db, resent.id);
  await fetch(queue.db, workerId, [{ endpointId, maxRows: 10 }]);
  await queue.pool.query("update posthorn.queue set claimed_by = -1 where id = $1", [stolen.id]);
  expect(await settleAll([settled, resent, stolen, mine], "delivered")).toEqual(new Set([mine.id]));
  expect(await counts()).toEqual({ queue: 2, deliveries: 2, log: 1, attempts: 3 });
});

test("one statement stores new events and settles first successes, each without the other if it is refused", async () => {
  const connection = await queue.db.connect();
  try {
    const [first, stolen] = (await claimed(2)) as [ClaimedDelivery, ClaimedDelivery];
    await queue.pool.query("update posthorn.queue set claimed_by = -1 where id = $1", [stolen.id]);
    const settlements = [first, stolen].map((delivery) => toSettlement(delivery, "delivered"));
    const event = newEvent();
    expect(await write(connection, workerId, await batchOf([event]), settlements)).toEqual({
      areEventsWritten: true,
      refusedIds: new Set([stolen.id]),
    });
    expect(await counts()).toEqual({ queue: 2, deliveries: 1, log: 0, attempts: 1 });
    const stale = { ...(await batchOf([newEvent()])), routes: new Map([[tenant, -1]]) };
    const claimBatch: ClaimBatch = { ended: () => {} };
    const settled = [toSettlement({ ...toClaimed(event), claimBatch }, "delivered")];
    expect(await write(connection, workerId, stale, settled)).toEqual({
      areEventsWritten: false,
      refusedIds: new Set(),
    });
    expect(await counts()).toEqual({ queue: 1, deliveries: 2, log: 0, attempts: 2 });
    const { rows } = await queue.pool.query("select count(*)::integer from posthorn.events");
    expect(rows).toEqual([{ count: 3 }]);
  } finally {
    await connection.close();
  }
});

test("a settlement that arrives after its delivery got a queue row is refused, and repeated with the row", async () => {
  const connection = await queue.db.connect();
  try {
    const event = newEvent();
    const claimBatch: ClaimBatch = { ended: () => {} };
    await write(connection, workerId, await batchOf([event]), []);
    await addAllQueueRows(queue.db, workerId, lowestUuidAt(Date.now() + 60_000));
    const delivery = toClaimed(event);
    const late = toSettlement({ ...delivery, claimBatch }, "delivered");
    const refusedIds = new Set([delivery.id]);
    expect(await write(connection, workerId, null, [late])).toEqual({ areEventsWritten: true, refusedIds });
    expect(await counts()).toEqual({ queue: 1, deliveries: 0, log: 0, attempts: 0 });
    await write(connection, workerId, null, [toSettlement(delivery, "delivered")]);
    expect(await counts()).toEqual({ queue: 0, deliveries: 1, log: 0, attempts: 1 });
  } finally {
    await connection.close();
  }
});

test("batches of any size, mixed or not, use the plans of the first batches", async () => {
  const db = new Database({
    database: queue.pool.options.connectionString as string,
    schema: "posthorn",
    maxConnections: 1,
  });
  try {
    await (await db.connect()).close(); // statements are prepared from now on
    for (let batch = 0; batch < 20; batch += 1) {
      const deliveries = await claimed((batch % 4) + 1);
      const ends: End[] = batch % 2 === 0 ? ["delivered"] : ["retry"];
      await settle(
        db,
        workerId,
        deliveries.map((delivery) => toSettlement(delivery, ends[0] as End)),
      );
    }
    const plans = await db.query({
      name: "plans",
      text: `select substring(name from 'settle.*') as name, custom_plans as custom, generic_plans as generic
        from pg_prepared_statements where name like '%settle%' order by name`,
    });
    expect(plans).toEqual([
      { name: "settle", custom: 5, generic: 5 },
      { name: "settle first", custom: 5, generic: 5 },
    ]);
  } finally {
    await db.close();
  }
});

test("events and queue rows are committed durably in a database with asynchronous commits, and the session stays as it is", async () => {
  const { db, pool } = queue;
  await pool.query(`
    create table public.commits (setting text);
    create function public.note_commit() returns trigger language plpgsql
    as $$ begin insert into public.commits values (current_setting('synchronous_commit')); return null; end $$;
    create trigger note_commit after insert on posthorn.events
    for each statement execute function public.note_commit();
    create trigger note_commit after insert on posthorn.queue
    for each statement execute function public.note_commit()`);
  const ask = { name: "ask", text: "select current_setting('synchronous_commit') as setting" };
  expect(await db.query(ask)).toEqual([{ setting: "off" }]);
  await claimed(2);
  const connection = await db.connect();
  const event = newEvent();
  await write(connection, workerId, await batchOf([event]), []);
  await connection.close();
  await addQueueRows(db, workerId, [toClaimed(event)]);
  await addAllQueueRows(db, workerId, lowestUuidAt(Date.now()));
  const commits = await pool.query("select setting, count(*)::integer from public.commits group by setting");
  expect(commits.rows).toEqual([{ setting: "on", count: 5 }]);
  expect(await db.transaction((tx) => tx.query(ask))).toEqual([{ setting: "on" }]);
  expect(await db.query(ask)).toEqual([{ setting: "off" }]);
  await pool.query("drop trigger note_commit on posthorn.events; drop trigger note_commit on posthorn.queue");
});
