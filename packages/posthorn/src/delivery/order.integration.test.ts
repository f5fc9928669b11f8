// A fifo endpoint gets the events of a subject one by one, in the order of their sequences, despite failures,
// crashes and changes; other subjects and endpoints are not affected.
import { parseId } from "@posthorn/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  databasePerTest,
  publishTimes,
  settleAfter,
} from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import { rowsRead } from "../../../../tests/support/database/resources.ts";
import { eventually } from "../../../../tests/support/eventually.ts";
import { gate } from "../../../../tests/support/gate.ts";
import { startTestReceiver, type TestReceiver } from "../../../../tests/support/servers/test-receiver.ts";
import type { EndpointInput } from "../resources/endpoints/settings.ts";
import { fetch } from "../storage/queries/queue/fetch.ts";
import { promoteLanes, promoteSubjects } from "../storage/queries/queue/promote.ts";
import type { TestInstance, TestInstanceOptions } from "../testing/index.ts";

const minute = 60_000;

let receiver: TestReceiver;

beforeEach(async () => {
  receiver = await startTestReceiver();
});
afterEach(async () => {
  await receiver.close();
});

const world = databasePerTest();
const { open } = world;

async function endpointOn(instance: TestInstance, path: string, options: Partial<EndpointInput> = {}) {
  const { endpoint } = await instance.hooks.endpoints.create("acme", {
    url: receiver.url + path,
    events: ["*"],
    ordering: "fifo",
    ...options,
  });
  return { id: endpoint.id, lane: parseId("ep", endpoint.id) as string };
}

const order = (subject: string, type = "order.paid") => ({ tenant: "acme", type, data: 1, subject });

function publish(instance: TestInstance, count: number, subject = "s"): Promise<string[]> {
  return publishTimes(instance, count, order(subject));
}

/** Publishes, and waits until nothing can be sent for now. */
async function deliver(instance: TestInstance, count: number, subject = "s"): Promise<void> {
  await publish(instance, count, subject);
  await instance.settle();
}

function publishInTransaction({ hooks }: TestInstance, subject = "s") {
  return inTransaction(world.pool, (tx) => hooks.publish(order(subject), { tx }));
}

async function statesBySequence(): Promise<string[]> {
  const { rows } = await world.pool.query(
    `select d.state from posthorn.delivery_states d
     join posthorn.events e on e.id = d.event_id order by e.subject, e.sequence`,
  );
  return rows.map((row) => row.state);
}

async function deliveryOf(instance: TestInstance, eventId: string): Promise<string> {
  const [delivery] = (await instance.hooks.events.get(eventId)).deliveries;
  return delivery?.id as string;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function expectOrder(): void {
  expect(receiver.disorder()).toEqual([]);
  expect(receiver.overlaps).toEqual([]);
}

test("the next event of a subject is sent after a failing one succeeded or is dead, and other subjects continue", async () => {
  const a = await open();
  await endpointOn(a, "/fifo");
  receiver.answer = ({ subject, sequence, attempt }) => {
    if (sequence !== 2 || subject === "well") return 200;
    return subject === "dead" ? 400 : attempt <= 2 ? 500 : 200;
  };
  await publish(a, 4, "dead");
  await publish(a, 5, "stuck");
  await deliver(a, 5, "well");
  expect(receiver.sequences("/fifo", "stuck")).toEqual([1, 2]);
  expect(receiver.sequences("/fifo", "well")).toEqual(upTo(5));
  expect(receiver.sequences("/fifo", "dead")).toEqual(upTo(4));
  expect(await statesBySequence()).toEqual([
    ...["success", "dead", "success", "success"],
    ...["success", "failed", "pending", "pending", "pending"],
    ...Array(5).fill("success"),
  ]);
  await publish(a, 2, "stuck");
  await publish(a, 2, "well");
  await settleAfter(a, 2 * minute);
  expect(receiver.sequences("/fifo", "stuck")).toEqual([1, 2, 2]);
  await settleAfter(a, 10 * minute);
  expect(receiver.sequences("/fifo", "stuck")).toEqual([1, 2, 2, 2, 3, 4, 5, 6, 7]);
  expect(receiver.sequences("/fifo", "well")).toEqual(upTo(7));
  expectOrder();
});

/** Publishes with the SQL function and ids of the given time. */
async function publishAt(ms: number, count = 1): Promise<void> {
  await world.pool.query(
    `select posthorn.publish(tenant => 'acme', type => 'order.paid', data => '1'::text, subject => 's',
       id => 'evt_' || posthorn.uuidv7(to_timestamp($1::double precision / 1000)))
     from generate_series(1, $2::integer)`,
    [ms, count],
  );
}

test("the relay finds the first event of a subject behind many events with earlier ids", async () => {
  const a = await open({ started: false });
  await endpointOn(a, "/fifo");
  await publishAt(Date.now(), 1);
  await publishAt(Date.now() - 60 * minute, 510);
  await a.hooks.start();
  await eventually("the outbox is empty", async () => {
    const { rows } = await world.pool.query("select count(*)::integer as count from posthorn.outbox");
    return rows[0].count === 0;
  });
  await receiver.until("the first few", () => receiver.arrivals.length >= 5);
  expect(receiver.sequences("/fifo").slice(0, 5)).toEqual(upTo(5));
});

test("publishes from three processes and from transactions, mixed in one subject, arrive in order", async () => {
  const [a, b, api] = [await open(), await open(), await open({ started: false })];
  await api.hooks.start({ role: "api" });
  await endpointOn(a, "/fifo");
  await endpointOn(a, "/plain", { ordering: "none" });
  const ways = [
    () => publish(a, 1),
    () => publish(b, 2),
    () => publish(api, 1),
    () => publishInTransaction(a),
    () => publishInTransaction(b, "t"),
    () => publish(a, 1, "t"),
  ];
  await Promise.all(
    ways.map(async (way) => {
      for (let round = 0; round < 12; round += 1) await way();
    }),
  );
  await receiver.until("all of them at both", () => receiver.arrivals.length >= 168);
  expect(receiver.sequences("/fifo", "s")).toEqual(upTo(60));
  expect(receiver.sequences("/fifo", "t")).toEqual(upTo(24));
  expect(receiver.overlaps.filter(({ path }) => path === "/fifo")).toEqual([]);
  expect(receiver.sequences("/plain")).toHaveLength(84);
});

test("an event published after one in the outbox waits there too, and reports it", async () => {
  // it relays nothing
  const api = await open({ started: false });
  await api.hooks.start({ role: "api" });
  await endpointOn(api, "/fifo");
  await endpointOn(api, "/plain", { ordering: "none" });
  await publishInTransaction(api);
  expect(await api.hooks.publish(order("s"))).toMatchObject({ duplicate: false, deliveries: null });
  expect(await api.hooks.publish(order("other"))).toMatchObject({ deliveries: 2 });
  await open();
  await receiver.until("all of them at both", () => receiver.arrivals.length === 6);
  expect(receiver.sequences("/fifo", "s")).toEqual([1, 2]);
});

test("a relay that cannot lock the first event of a subject leaves the others in the outbox", async () => {
  const a = await open({ started: false });
  await endpointOn(a, "/fifo");
  await publish(a, 3);
  const other = await world.pool.connect();
  await other.query("begin");
  await other.query("select from posthorn.outbox where sequence = 1 for update");
  await publish(a, 1, "t");
  await a.hooks.start();
  await receiver.until("the other subject", () => receiver.arrivals.length > 0);
  const { rows } = await world.pool.query("select sequence::integer from posthorn.outbox order by sequence");
  expect(rows.map((row) => row.sequence)).toEqual([1, 2, 3]);
  await other.query("rollback");
  other.release();
  await receiver.until("all of them", () => receiver.arrivals.length === 4);
  expect(receiver.sequences("/fifo", "s")).toEqual([1, 2, 3]);
});

test.each<[what: string, patch: Partial<EndpointInput>]>([
  ["changed to let them pass", { fifoOnDead: "pass" }],
  ["changed to keep no order", { ordering: "none" }],
])(
  "subjects held by dead deliveries continue when the endpoint is %s, whichever worker owns the lane",
  async (_what, patch) => {
    const a = await open();
    const { id, lane } = await endpointOn(a, "/fifo", { fifoOnDead: "hold" });
    receiver.answer = ({ sequence }) => (sequence === 1 ? 400 : 200);
    for (const subject of ["s", "t"]) await publish(a, 3, subject);
    await a.settle();
    expect(receiver.sequences("/fifo")).toEqual([1, 1]);
    await a.hooks.endpoints.update("acme", id, patch);
    await a.settle();
    for (const subject of ["s", "t"]) expect(receiver.sequences("/fifo", subject)).toEqual([1, 2, 3]);

    // and without an owner
    await a.hooks.endpoints.update("acme", id, { ordering: "fifo", fifoOnDead: "hold" });
    receiver.answer = ({ sequence }) => (sequence === 4 ? 400 : 200);
    await deliver(a, 3, "s");
    await a.hooks.stop();
    const { rows } = await world.pool.query("select owner from posthorn.lanes where endpoint_id = $1", [
      lane,
    ]);
    expect(rows).toEqual([{ owner: null }]);
    const b = await open({ started: false });
    await b.hooks.endpoints.update("acme", id, patch);
    await b.hooks.start();
    await receiver.until("the rest", () => receiver.sequences("/fifo", "s").length === 6);
    expect(receiver.sequences("/fifo", "s")).toEqual(upTo(6));
  },
);

test.each<[what: string, changed: Partial<TestInstanceOptions>]>([
  ["lets them pass", { ordering: "fifo" }],
  ["keeps no order", { fifoOnDead: "hold" }],
])(
  "order is kept by the deployment's default, until a start with a default that %s",
  async (_what, changed) => {
    const a = await open({ ordering: "fifo", fifoOnDead: "hold" });
    await endpointOn(a, "/default", { ordering: null });
    await endpointOn(a, "/own", { fifoOnDead: "hold" });
    receiver.answer = ({ sequence }) => (sequence === 1 || sequence === 4 ? 400 : 200);
    const [first] = (await publish(a, 3)) as [string];
    await a.settle();
    expect(receiver.sequences("/default")).toEqual([1]);
    // as held by its own setting, a subject continues after a manual retry
    receiver.answer = ({ sequence }) => (sequence === 4 ? 400 : 200);
    for (const { id } of (await a.hooks.events.get(first))?.deliveries ?? [])
      await a.hooks.deliveries.retry(id);
    await deliver(a, 3);
    expect(receiver.sequences("/default")).toEqual([1, 1, 2, 3, 4]);
    await a.hooks.stop();
    await open(changed);
    await receiver.until("the rest", () => receiver.sequences("/default").length === 7);
    expect(receiver.sequences("/default").slice(5)).toEqual([5, 6]);
    expect(receiver.sequences("/own")).toEqual([1, 1, 2, 3, 4]);
  },
);

test("a replayed delivery is sent after the one in flight and before those that wait", async () => {
  const a = await open();
  await endpointOn(a, "/fifo");
  receiver.answer = ({ sequence }) => (sequence === 1 ? 400 : 200);
  const [first] = (await publish(a, 2)) as [string, string];
  await a.settle();
  const busy = gate(200);
  receiver.answer = ({ sequence, attempt }) => (sequence === 3 && attempt === 1 ? busy.opened : 200);
  await publish(a, 3);
  await receiver.until("the third", () => receiver.sequences("/fifo").includes(3));
  await a.hooks.deliveries.retry(await deliveryOf(a, first));
  await eventually("it is claimed, and waits in memory", async () => {
    const { rows } = await world.pool.query(
      "select sequence::integer from posthorn.queue where claimed_by is not null",
    );
    return rows.length === 2;
  });
  busy.open();
  await a.settle();
  expect(receiver.sequences("/fifo")).toEqual([1, 2, 3, 1, 4, 5]);
  expect(receiver.overlaps).toEqual([]);
});

test("deliveries in memory behind a replayed one wait until it has ended", async () => {
  const a = await open();
  await endpointOn(a, "/fifo", { maxInFlight: 2 });
  receiver.answer = ({ sequence, subject }) => (subject === "s" && sequence === 1 ? 400 : 200);
  const [first] = (await publish(a, 1)) as [string];
  await a.settle();
  // other subjects use both slots, so that the second is claimed and cannot start
  const busy = gate(200);
  receiver.answer = ({ subject, sequence }) => (subject !== "s" ? busy.opened : sequence === 1 ? 500 : 200);
  await publish(a, 1, "t");
  await publish(a, 1, "u");
  await receiver.until("the other subjects", () => receiver.arrivals.length === 3);
  await publish(a, 1);
  await a.hooks.deliveries.retry(await deliveryOf(a, first));
  await eventually("both wait in memory", async () => {
    const { rows } = await world.pool.query(
      "select from posthorn.queue where subject = 's' and claimed_by is not null",
    );
    return rows.length === 2;
  });
  // the worker has the reply of the fetch that claimed the first
  await a.hooks.engine?.worker.runNow();
  busy.open();
  await a.settle();
  expect(receiver.sequences("/fifo", "s")).toEqual([1, 1]);
  receiver.answer = () => 200;
  await settleAfter(a, 2 * minute);
  expect(receiver.sequences("/fifo", "s")).toEqual([1, 1, 1, 2]);
});

test("an endpoint that is disabled and enabled continues in order", async () => {
  const a = await open();
  const { id } = await endpointOn(a, "/fifo");
  const slow = gate(200);
  receiver.answer = ({ sequence }) => (sequence === 2 ? slow.opened : 200);
  await publish(a, 4);
  await receiver.until("the second", () => receiver.sequences("/fifo").includes(2));
  await a.hooks.endpoints.update("acme", id, { isActive: false });
  await publish(a, 2);
  slow.open();
  await a.settle();
  expect(receiver.sequences("/fifo")).toEqual([1, 2]);
  await a.hooks.endpoints.update("acme", id, { isActive: true });
  await a.settle();
  expect(receiver.sequences("/fifo")).toEqual(upTo(6));
});

test("a deleted endpoint leaves no waiting delivery and no held subject", async () => {
  const a = await open();
  const { id } = await endpointOn(a, "/fifo", { fifoOnDead: "hold" });
  receiver.answer = ({ subject }) => (subject === "s" ? 400 : 500);
  await publish(a, 5);
  await deliver(a, 5, "t");
  await a.hooks.endpoints.delete("acme", id);
  await a.settle();
  expect(new Set(await statesBySequence())).toEqual(new Set(["dead"]));
  expect((await world.pool.query("select from posthorn.held_subjects")).rowCount).toBe(0);
});

test("events without a subject are not ordered, even at a fifo endpoint", async () => {
  const a = await open();
  await endpointOn(a, "/fifo", { maxInFlight: 5 });
  const slow = gate(200);
  receiver.answer = () => (receiver.arrivals.length === 1 ? slow.opened : 200);
  await a.hooks.publishMany(Array(5).fill({ tenant: "acme", type: "order.paid", data: 1 }));
  await receiver.until("all, although the first has no answer", () => receiver.arrivals.length === 5);
  slow.open();
});

test("ordering applies to events after it was enabled, and rows queued in order stay in order", async () => {
  const a = await open();
  const { id } = await endpointOn(a, "/switch", { ordering: "none", maxInFlight: 10 });
  receiver.answer = () => 500;
  await deliver(a, 3);
  await a.hooks.endpoints.update("acme", id, { ordering: "fifo" });
  receiver.answer = ({ sequence }) => (sequence === 4 ? 500 : 200);
  await deliver(a, 3);
  // the first three are sent at the same time
  expect(receiver.sequences("/switch").toSorted()).toEqual([1, 2, 3, 4]);
  await a.hooks.endpoints.update("acme", id, { ordering: "none" });
  await deliver(a, 1);
  // the new one overtakes, those queued before keep their order
  expect(receiver.sequences("/switch").slice(4)).toEqual([7]);
  receiver.answer = () => 200;
  await settleAfter(a, 2 * minute);
  expect(receiver.sequences("/switch").filter((n) => n !== null && n > 3)).toEqual([4, 7, 4, 5, 6]);
});

test("a fetch costs the same whatever waits behind the head of a subject", async () => {
  const a = await open({ started: false });
  const { lane } = await endpointOn(a, "/fifo");
  const { rows } = await world.pool.query(
    "insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name) values (now() + interval '1 hour', false, 'x') returning id",
  );
  const workerId = rows[0].id as number;
  await world.pool.query("update posthorn.lanes set owner = $1", [workerId]);
  await world.pool.query(
    `with made as (
       insert into posthorn.events (id, tenant, type, api_version, subject, sequence, payload)
       select posthorn.uuidv7(now()), 'acme', 'order.paid', '1', case when n <= 20000 then 's' else 't-' || n end,
         case when n <= 20000 then n else 1 end, '1'
       from generate_series(1, 20020) n
       returning id, subject, sequence
     )
     insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, subject, sequence)
     select posthorn.uuidv7(now()), id, $1, now(), now(), subject, sequence from made`,
    [lane],
  );
  await world.pool.query("analyze posthorn.queue");
  const fetchSome = (maxRows: number) => fetch(a.hooks.db, workerId, [{ endpointId: lane, maxRows }]);
  // new rows are read once each, a limited number per fetch
  let fetches = 0;
  let claimed = 0;
  for (; ; fetches += 1) {
    const { deliveries, parked } = await fetchSome(2_000);
    claimed += deliveries.length;
    expect(deliveries.length + (parked.get(lane) ?? 0)).toBeLessThanOrEqual(2_000);
    if (deliveries.length === 0 && parked.size === 0) break;
  }
  expect({ fetches, claimed }).toEqual({ fetches: 11, claimed: 21 });

  // from here on a turn reads only the head of the subject
  await world.pool.query("vacuum analyze posthorn.queue");
  await world.pool.query("delete from posthorn.queue where subject = 's' and sequence = 1");
  expect(await promoteSubjects(a.hooks.db, workerId, [{ endpointId: lane, subject: "s" }])).toEqual([lane]);
  let turn: Awaited<ReturnType<typeof fetch>> | undefined;
  const turnRows = await rowsRead(a.hooks.db, "queue", async (tx) => {
    turn ??= await fetch(tx, workerId, [{ endpointId: lane, maxRows: 50 }]);
  });
  expect(turn?.deliveries.map(({ delivery }) => delivery.event.sequence)).toEqual([2]);
  expect(turn?.parked.size).toBe(0);
  expect(turnRows).toBeLessThan(20);

  const walkRows = await rowsRead(a.hooks.db, "queue", async (tx) => {
    const walk = await promoteLanes(tx, workerId, [{ endpointId: lane, after: "" }], 100);
    expect(walk).toEqual([{ endpointId: lane, lastSubject: null, promoted: 0 }]);
  });
  expect(walkRows).toBeLessThan(200);
});
