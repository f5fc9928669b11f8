// The steps that a random life of deliveries is made of.
import { randomUUID } from "node:crypto";
import { parseId } from "@posthorn/wire";
import fc from "fast-check";
import { expect } from "vitest";
import type { Uuid } from "../../../packages/posthorn/src/model.ts";
import { acquireLanes } from "../../../packages/posthorn/src/storage/queries/lanes/acquire.ts";
import { releaseLanes } from "../../../packages/posthorn/src/storage/queries/lanes/release.ts";
import { waitingEvents } from "../../../packages/posthorn/src/storage/queries/outbox/waiting.ts";
import { cancelQueued } from "../../../packages/posthorn/src/storage/queries/queue/cancel.ts";
import { fetch } from "../../../packages/posthorn/src/storage/queries/queue/fetch.ts";
import { requeueDelivery } from "../../../packages/posthorn/src/storage/queries/queue/requeue.ts";
import { reap, suspectWorkers } from "../../../packages/posthorn/src/storage/queries/workers/reap.ts";
import { renewWorker } from "../../../packages/posthorn/src/storage/queries/workers/register.ts";
import {
  advance,
  buryTheDead,
  type End,
  giveBackAs,
  ingestAs,
  isReached,
  newEvent,
  publishInOwnTransaction,
  settleAs,
  takeClaimed,
  togglePause,
} from "./actions.ts";
import { compare } from "./compare.ts";
import {
  freeLane,
  isAlive,
  laneOf,
  leaseMs,
  type Model,
  minute,
  owedIn,
  startProcess,
  type Worker,
  type World,
} from "./model.ts";

type Step = fc.AsyncCommand<Model, World>;

function step(
  name: string,
  isPossible: (model: Model) => boolean,
  act: (model: Model, real: World) => Promise<void>,
): Step {
  return {
    check: isPossible,
    run: async (model, real) => {
      await act(model, real);
      await compare(model, real, name);
    },
    toString: () => name,
  };
}

/** A step of one process, whether it knows of its burial or not. */
function stepOf(
  slot: number,
  name: string,
  act: (worker: Worker, model: Model, real: World) => Promise<void>,
): Step {
  return step(
    `${name} by ${slot}`,
    (model) => model.processes[slot] !== undefined,
    (model, real) => act(model.processes[slot] as Worker, model, real),
  );
}

const slots = fc.nat(2);
const choice = fc.nat(1_000);
const mostly = fc.integer({ min: 0, max: 9 }).map((n) => n > 1);
const someKey = fc.nat(20).map((n) => (n < 4 ? n : null));
const endpointMask = fc.integer({ min: 1, max: 7 });

const publish: fc.Arbitrary<Step> = fc
  .record({
    slot: slots,
    mask: endpointMask,
    hasCapacity: mostly,
    delivers: mostly,
    isFresh: mostly,
    key: someKey,
  })
  .map((input) =>
    stepOf(input.slot, `publish ${JSON.stringify(input)}`, async (worker, model, real) => {
      const key = input.key === null ? null : `key ${input.key}`;
      const event = newEvent();
      const known = key === null ? undefined : model.keys.get(key);
      const events = [{ event, endpoints: masked(real, input.mask) }];
      const written = await ingestAs(worker, model, events, {
        ...input,
        key,
        refuses: known !== undefined,
      });
      if (!written || known !== undefined) return;
      model.events.add(event.id);
      if (key !== null) model.keys.set(key, event.id);
    }),
  );

const publishInTransaction: fc.Arbitrary<Step> = fc
  .record({ mask: endpointMask, commits: fc.boolean(), key: someKey })
  .map((input) =>
    step(
      `publish in a transaction ${JSON.stringify(input)}`,
      () => true,
      async (model, real) => {
        const key = input.key === null ? null : `key ${input.key}`;
        const known = key === null ? undefined : model.keys.get(key);
        // its id is not foretold: where the clock was moved, the database makes it
        const stored = await publishInOwnTransaction(model, newEvent(), key, input.commits);
        const id = parseId("evt", stored) as string;
        if (known !== undefined) expect(id).toBe(known);
        if (!input.commits || known !== undefined) return;
        expect(model.events).not.toContain(id);
        model.events.add(id);
        model.outbox.set(id, masked(real, input.mask));
        if (key !== null) model.keys.set(key, id);
      },
    ),
  );

const relay: fc.Arbitrary<Step> = fc.record({ slot: slots, hasCapacity: mostly, rival: slots }).map((input) =>
  stepOf(input.slot, `relay ${JSON.stringify(input)}`, async (worker, model) => {
    const waiting = await waitingEvents(model.db, { events: 100, bytes: 1_000_000 });
    expect(new Set(waiting.map((event) => event.id))).toEqual(new Set(model.outbox.keys()));
    const events = waiting.map((event) => ({ event, endpoints: model.outbox.get(event.id) as Uuid[] }));
    const options = {
      hasCapacity: input.hasCapacity,
      delivers: true,
      isFresh: true,
      key: null,
      fromOutbox: true,
    };
    const written = await ingestAs(worker, model, events, { ...options, refuses: false });
    if (written) model.outbox.clear();
    // another process that read the same rows comes too late
    const rival = model.processes[input.rival];
    if (written && rival !== undefined) await ingestAs(rival, model, events, { ...options, refuses: true });
  }),
);

const acquire: fc.Arbitrary<Step> = fc
  .record({ slot: slots, limit: fc.integer({ min: 1, max: 3 }) })
  .map(({ slot, limit }) =>
    stepOf(slot, `acquire up to ${limit}`, async (worker, model) => {
      const ready = [...model.lanes].filter(
        ([, lane]) => lane.owner === null && !lane.isPaused && isReached(model, lane.readyMs),
      );
      const taken = await acquireLanes(model.db, worker.id, limit);
      expect(taken).toHaveLength(isAlive(model, worker) ? Math.min(limit, ready.length) : 0);
      for (const { endpointId: endpoint } of taken) {
        expect(ready.map(([id]) => id)).toContain(endpoint);
        Object.assign(laneOf(model, endpoint), { owner: worker.id, readyMs: null });
        worker.lanes.add(endpoint);
      }
    }),
  );

const fetchOwed: fc.Arbitrary<Step> = fc
  .record({ slot: slots, room: fc.integer({ min: 1, max: 4 }) })
  .map(({ slot, room }) =>
    stepOf(slot, `fetch ${room} of each lane`, async (worker, model, real) => {
      const { deliveries: fetched } = await fetch(
        model.db,
        worker.id,
        real.endpoints.map((endpointId) => ({ endpointId, room })),
      );
      for (const endpoint of real.endpoints) {
        const owns = laneOf(model, endpoint).owner === worker.id;
        const due = owedIn(model, endpoint).filter((delivery) => isReached(model, delivery.dueMs));
        const brought = fetched.filter(({ delivery }) => delivery.endpointId === endpoint);
        expect(brought).toHaveLength(owns ? Math.min(room, due.length) : 0);
        for (const { delivery } of brought) expect(due.map(({ id }) => id)).toContain(delivery.id);
      }
      for (const { delivery } of fetched) takeClaimed(model, worker, delivery);
    }),
  );

const settleHeld: fc.Arbitrary<Step> = fc
  .record({
    slot: slots,
    ends: fc.array(fc.constantFrom<End>("delivered", "retry", "long retry", "dead"), {
      minLength: 1,
      maxLength: 6,
    }),
  })
  .map(({ slot, ends }) =>
    stepOf(slot, `settle ${ends.join(", ")}`, async (worker, model) => {
      await settleAs(worker, model, ends);
    }),
  );

const settleLate: fc.Arbitrary<Step> = choice.map((n) =>
  step(
    `late word ${n}`,
    (model) => ghostsOf(model).length > 0,
    async (model) => {
      const ghosts = ghostsOf(model);
      const ghost = ghosts[n % ghosts.length] as Worker;
      if (n % 3 > 0) await settleAs(ghost, model, ["delivered", "retry", "dead"]);
      else await giveBackAs(ghost, model, 3);
    },
  ),
);

/** Buried, and with something left to say. */
function ghostsOf(model: Model): Worker[] {
  const workers = [...model.ghosts, ...model.processes.filter((worker) => worker !== undefined)];
  return workers.filter((worker) => !isAlive(model, worker) && worker.held.size > 0);
}

const crash: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `crash of ${slot}`,
    (model) => model.processes[slot] !== undefined,
    async (model) => {
      model.processes[slot] = undefined;
    },
  ),
);

const start: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `start of ${slot}`,
    (model) => model.processes[slot] === undefined,
    (model) => startProcess(model, slot),
  ),
);

const renew: fc.Arbitrary<Step> = slots.map((slot) =>
  stepOf(slot, "renewal", async (worker, model) => {
    const [before] = (await suspectWorkers(model.db, 0, "posthorn", 0)).filter(({ id }) => id === worker.id);
    const renewed = await renewWorker(model.db, worker.id, leaseMs, 0);
    expect(renewed !== null).toBe(isAlive(model, worker));
    if (renewed === null) {
      model.ghosts.push(worker);
      await startProcess(model, slot);
      return;
    }
    model.leases.set(worker.id, model.nowMs + leaseMs);
    // who looked before the renewal may not bury after it
    expect(
      await reap(model.db, { id: worker.id, leaseExpiresMs: before?.leaseExpiresMs as number }),
    ).toBeNull();
  }),
);

const stall: fc.Arbitrary<Step> = slots.map((slot) =>
  step(
    `stall of ${slot} past its lease`,
    () => true,
    async (model) => {
      await advance(model, 20_000);
      for (const [other, worker] of model.processes.entries()) {
        if (worker === undefined || other === slot || !isAlive(model, worker)) continue;
        await renewWorker(model.db, worker.id, leaseMs, 0);
        model.leases.set(worker.id, model.nowMs + leaseMs);
      }
      await buryTheDead(model);
    },
  ),
);

const giveHeldBack: fc.Arbitrary<Step> = fc
  .record({ slot: slots, count: fc.integer({ min: 1, max: 3 }) })
  .map(({ slot, count }) =>
    stepOf(slot, `give back ${count}`, (worker, model) => giveBackAs(worker, model, count)),
  );

const release: fc.Arbitrary<Step> = slots.map((slot) =>
  stepOf(slot, "release", async (worker, model) => {
    const busy = new Set([...worker.held.values()].map((delivery) => delivery.endpointId));
    const idle = [...worker.lanes].filter((endpoint) => !busy.has(endpoint));
    const released = await releaseLanes(model.db, worker.id, idle);
    expect(released).toEqual(new Set(isAlive(model, worker) ? idle : []));
    for (const endpoint of released) {
      worker.lanes.delete(endpoint);
      freeLane(model, endpoint);
    }
  }),
);

const advanceClock: fc.Arbitrary<Step> = fc.constantFrom(20_000, 1.1 * minute, 11 * minute).map((ms) =>
  step(
    `advance by ${ms / 1_000} s`,
    () => true,
    (model) => advance(model, ms),
  ),
);

const retryByHand: fc.Arbitrary<Step> = choice.map((n) =>
  step(
    `retry by hand of ${n}`,
    () => true,
    async (model) => {
      const all = [...model.deliveries.values()];
      const delivery = all[n % (all.length + 1)];
      const result = await requeueDelivery(model.db, delivery?.id ?? randomUUID());
      if (delivery === undefined) expect(result).toEqual({ kind: "not_found" });
      else if (laneOf(model, delivery.endpoint).isPaused)
        expect(result).toEqual({ kind: "closed", because: "endpoint_disabled" });
      else if (delivery.state === "in_flight") expect(result).toEqual({ kind: "in_flight" });
      else {
        const lane = laneOf(model, delivery.endpoint);
        expect(result).toEqual({
          kind: "queued",
          endpointId: delivery.endpoint,
          owner: lane.owner,
          isProbe: false,
        });
        if (lane.owner === null) lane.readyMs = Math.min(lane.readyMs ?? model.nowMs, model.nowMs);
        Object.assign(delivery, { state: "pending", trigger: "manual", failures: 0, dueMs: model.nowMs });
      }
    },
  ),
);

const pauseOrUnpause: fc.Arbitrary<Step> = fc.nat(2).map((n) =>
  step(
    `pause or unpause ${n}`,
    () => true,
    (model, real) => togglePause(model, real.endpoints[n] as Uuid),
  ),
);

const discard: fc.Arbitrary<Step> = fc.nat(9).map((n) =>
  step(
    `discard ${n}`,
    () => n < 3,
    async (model, real) => {
      const endpoint = real.endpoints[n] as Uuid;
      const owed = owedIn(model, endpoint);
      expect(await cancelQueued(model.db, [endpoint], "discarded")).toBe(owed.length);
      for (const delivery of owed) delivery.state = "dead";
    },
  ),
);

/** Each as often as it stands here: sending is what workers do all day. */
export const steps = [
  ...[publish, publish, publish, publish, publish, publish, publishInTransaction, publishInTransaction],
  ...[relay, relay, acquire, acquire, acquire, release, giveHeldBack],
  ...[fetchOwed, fetchOwed, fetchOwed, fetchOwed, fetchOwed],
  ...[settleHeld, settleHeld, settleHeld, settleHeld, settleHeld, settleHeld, settleLate],
  ...[crash, start, start, start, start, renew, renew, stall, stall],
  ...[advanceClock, advanceClock, retryByHand, retryByHand, pauseOrUnpause, discard],
];

function masked(real: World, mask: number): Uuid[] {
  return real.endpoints.filter((_, i) => (mask >> i) % 2 === 1);
}
