// Order under random publishes by two ways, relays, fetches, settlements, crashes, hand-overs and
// manual retries against the real statements. When a delivery is sent, no earlier one of its subject may be
// unfinished. A failure prints its seed: POSTHORN_SEED=<seed> runs it again.
import { uuidv7 } from "@posthorn/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addEndpoint,
  addWorker,
  minute,
  newEvent,
  openQueue,
  startAnew,
  toSettlement,
} from "../../../../tests/support/database/queue-world.ts";
import { isQuick } from "../../../../tests/support/matrix.ts";
import { SubjectOrder } from "../delivery/subject-order.ts";
import type { ClaimedDelivery, Event, Uuid } from "../model.ts";
import { syncLanes } from "./queries/endpoints/sync-lanes.ts";
import { claim, type IngestBatch, ingest } from "./queries/events/ingest.ts";
import { ingestInOrder } from "./queries/events/ingest-in-order.ts";
import { publishStatement } from "./queries/events/publish-in-transaction.ts";
import { claimLanes } from "./queries/lanes/claim.ts";
import { releaseLanes } from "./queries/lanes/release.ts";
import { waitingEvents } from "./queries/outbox.ts";
import { fetch } from "./queries/queue/fetch.ts";
import { promoteLanes, promoteSubjects } from "./queries/queue/promote.ts";
import { releaseHeldSubjects } from "./queries/queue/release.ts";
import { requeueDelivery } from "./queries/queue/requeue.ts";
import { settle } from "./queries/queue/settle.ts";
import { advanceTestClock } from "./queries/test-clock.ts";
import { reap } from "./queries/workers/reap.ts";

const queue = openQueue();

const steps = [
  ...["publish", "publish", "publish", "publish in transaction", "relay", "relay"],
  ...["fetch", "fetch", "fetch", "settle", "settle", "settle", "settle", "promote", "promote", "promote"],
  ...["claim", "claim", "release", "crash", "advance", "retry by hand", "publish two"],
] as const;
type Step = {
  readonly kind: (typeof steps)[number];
  readonly who: number;
  readonly subject: string;
  readonly end: "delivered" | "retry" | "dead";
};

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...steps),
  who: fc.nat(1),
  subject: fc.constantFrom("s", "t"),
  end: fc.constantFrom("delivered", "delivered", "retry", "dead"),
});

test.each(["pass", "hold"] as const)(
  "for any sequence of steps, deliveries of a subject are sent in order and none waits forever (dead ones %s)",
  async (fifoOnDead) => {
    const seed = process.env.POSTHORN_SEED;
    const run = async (life: readonly Step[]) => {
      const world = await createWorld(fifoOnDead);
      for (const step of life) await world.take(step);
      await world.bringToAnEnd();
    };
    let lastRun = Promise.resolve();
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 40, maxLength: 90, size: "max" }),
        async (life) => {
          lastRun = run(life);
          await lastRun;
        },
      ),
      {
        numRuns: isQuick ? 3 : 20,
        interruptAfterTimeLimit: 30_000, // fewer runs on a busy machine
        endOnFailure: true,
        ...(seed === undefined ? {} : { seed: Number(seed) }),
      },
    );
    // a run that was interrupted continues, and would change the tables under the next test
    await lastRun;
  },
  60_000,
);

test("an owner that releases a lane before it learns of released subjects leaves the lane ready", async () => {
  const { endpointId, workers } = await createWorld("hold");
  const { db, pool } = queue;
  const [owner, other] = workers as [Worker, Worker];
  await pool.query("update posthorn.lanes set owner = $1", [owner.id]);
  await pool.query(
    `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, subject, sequence)
     values ($1, $1, $2, 'infinity', now(), 's', 2)`,
    [uuidv7(), endpointId],
  );
  await db.transaction(async (tx) => {
    await releaseHeldSubjects(tx, endpointId);
    expect(await syncLanes(tx, [endpointId])).toEqual(new Map([[endpointId, owner.id]]));
  });
  expect(await releaseLanes(db, owner.id, [endpointId])).toEqual(new Set([endpointId]));
  expect(await claimLanes(db, other.id, 10)).toEqual([{ endpointId, hasParked: true }]);
});

interface Worker {
  readonly id: number;
  ownsLane: boolean;
  readonly waiting: ClaimedDelivery[];
  readonly freed: Set<string>;
}

async function createWorld(fifoOnDead: "pass" | "hold") {
  const { db, pool } = queue;
  await startAnew(queue);
  const endpointId = await addEndpoint(db, { ordering: "fifo", fifoOnDead });
  const workers = [await newWorker(), await newWorker()];
  const order = new SubjectOrder();
  /** Retried manually after their end: later ones may be in flight already. */
  const replayed = new Set<Uuid>();

  async function newWorker(): Promise<Worker> {
    return { id: await addWorker(db, 1_000_000), ownsLane: false, waiting: [], freed: new Set() };
  }

  async function write(worker: Worker, events: readonly Event[], fromOutbox: boolean): Promise<void> {
    const seen = new Set<string | null>();
    const deliveries = events.map((event) => {
      const isFirst = !seen.has(event.subject);
      seen.add(event.subject);
      const wanted = worker.ownsLane ? claim.mine : claim.ifGained;
      const how = isFirst ? wanted : claim.none;
      return { id: event.id, eventId: event.id, endpointId, claim: how, isOrdered: true, claimBatch: null };
    });
    const batch: IngestBatch = {
      workerId: worker.id,
      delivers: true,
      routes: new Map(),
      events: fromOutbox ? [] : events,
      keys: [],
      outbox: fromOutbox ? events : [],
      deliveries,
      collected: [],
      foreignLanes: worker.ownsLane ? [] : [endpointId],
      peerLanes: new Map(),
    };
    const result = fromOutbox ? await ingest(db, batch) : await ingestInOrder(db, batch);
    if (result.gainedLanes.size > 0) worker.ownsLane = true;
    const leftOut = new Set([...result.refusedEventIds, ...result.deferredEventIds]);
    for (const [index, event] of events.entries()) {
      const isBorn = worker.ownsLane && deliveries[index]?.claim !== claim.none;
      if (leftOut.has(event.id) || !isBorn || result.behindIds.includes(event.id)) continue;
      const sequence = result.sequences.get(event.id) as number;
      const delivery = {
        id: event.id,
        endpointId,
        attempts: 0,
        failures: 0,
        scheduleStartedMs: 0,
        isOrdered: true,
        claimBatch: null,
      };
      order.insert({ ...delivery, event: { ...event, sequence }, trigger: "event" }, worker.waiting);
    }
  }

  async function send(worker: Worker, end: Step["end"]): Promise<void> {
    const delivery = worker.waiting.shift();
    if (delivery === undefined) return;
    await expectTurn(delivery);
    expect(await settle(db, worker.id, [toSettlement(delivery, end)])).toEqual(new Set());
    if (end !== "retry") worker.freed.add(delivery.event.subject as string);
  }

  async function expectTurn({ event }: ClaimedDelivery): Promise<void> {
    const { rows } = await pool.query({
      name: "unfinished before", // prepared: planning takes longer than executing
      text: `select e.id, e.sequence::integer, coalesce(d.state, 'in the outbox') as state
        from posthorn.events e
        left join posthorn.delivery_states d on d.event_id = e.id
        where e.subject = $1 and e.sequence < $2 and coalesce(d.state, '') not in ('success', $3)`,
      values: [event.subject, event.sequence, fifoOnDead === "pass" ? "dead" : ""],
    });
    const before = rows.filter((row) => !replayed.has(row.id));
    expect(before, `before ${event.subject} ${event.sequence}`).toEqual([]);
  }

  async function promote(worker: Worker): Promise<void> {
    const freed = [...worker.freed].map((subject) => ({ endpointId, subject }));
    if (freed.length > 0) await promoteSubjects(db, worker.id, freed);
    worker.freed.clear();
  }

  async function claimLane(worker: Worker): Promise<void> {
    const [claimed] = await claimLanes(db, worker.id, 10);
    if (claimed === undefined) return;
    worker.ownsLane = true;
    for (let after: string | null = ""; claimed.hasParked && after !== null; ) {
      const [walked] = await promoteLanes(db, worker.id, [{ endpointId, after }], 1);
      after = walked?.lastSubject ?? null;
    }
  }

  async function bringBatch(worker: Worker, maxRows: number): Promise<void> {
    const { deliveries } = await fetch(db, worker.id, [{ endpointId, maxRows }]);
    for (const { delivery } of deliveries) order.insert(delivery, worker.waiting);
  }

  async function crash(who: number): Promise<void> {
    await reap(db, { id: (workers[who] as Worker).id, leaseExpiresMs: null });
    workers[who] = await newWorker();
  }

  async function retryByHand(state: string): Promise<void> {
    const { rows } = await pool.query(
      "select id from posthorn.deliveries where state = $1 or $1 = 'any' order by random() limit 1",
      [state],
    );
    if (rows.length === 0) return;
    await requeueDelivery(db, rows[0].id);
    // a delivery that holds its subject still holds it while it is retried
    if (fifoOnDead === "pass" || state === "any") replayed.add(rows[0].id);
  }

  const actions: Record<Step["kind"], (worker: Worker, step: Step) => Promise<unknown>> = {
    publish: (worker, { subject }) => write(worker, [skewed(subject)], false),
    "publish two": (worker, { subject }) => write(worker, [skewed(subject), skewed(subject)], false),
    "publish in transaction": (_worker, { subject }) =>
      pool.query(publishStatement.text, ["acme", "order.paid", "1", subject, "1", null, null, null, null]),
    relay: async (worker) => {
      const { events: waiting } = await waitingEvents(db, { events: 2, bytes: 1_000 });
      if (waiting.length > 0) await write(worker, waiting, true);
    },
    fetch: (worker) => bringBatch(worker, 3),
    settle: (worker, { end }) => send(worker, end),
    promote,
    claim: claimLane,
    release: async (worker) => {
      if (!worker.ownsLane || worker.waiting.length + worker.freed.size > 0) return;
      worker.ownsLane = !(await releaseLanes(db, worker.id, [endpointId])).has(endpointId);
    },
    crash: (_worker, { who }) => crash(who),
    advance: () => advanceTestClock(db, 11 * 60_000),
    "retry by hand": () => retryByHand(fifoOnDead === "pass" ? "any" : "dead"),
  };

  return {
    endpointId,
    workers,
    take: (step: Step) => actions[step.kind](workers[step.who] as Worker, step),
    /** Both die, a new one continues, receivers recover, and dead deliveries that hold a subject are retried manually. */
    async bringToAnEnd(): Promise<void> {
      for (const who of [0, 1]) await crash(who);
      const worker = workers[0] as Worker;
      for (let round = 0; (await unfinished()) > 0; round += 1) {
        expect(round, "rounds until everything has ended").toBeLessThan(400);
        await advanceTestClock(db, 11 * 60_000);
        await actions.relay(worker, {} as Step);
        if (!worker.ownsLane) await claimLane(worker);
        await bringBatch(worker, 10);
        while (worker.waiting.length > 0) await send(worker, "delivered");
        await promote(worker);
        if (fifoOnDead === "hold") await retryByHand("dead");
      }
      const { rows } = await pool.query(
        "select from posthorn.events e group by e.subject having max(e.sequence) <> count(*)",
      );
      expect(rows).toEqual([]);
    },
  };
}

async function unfinished(): Promise<number> {
  const { rows } = await queue.pool.query(
    `select ((select count(*) from posthorn.queue) + (select count(*) from posthorn.outbox)
       + (select count(*) from posthorn.held_subjects))::integer as count`,
  );
  return rows[0].count;
}

/** An event with an id from a clock that differs by up to a minute. */
const skewed = (subject: string) => newEvent(subject, Date.now() - Math.floor(Math.random() * minute));
