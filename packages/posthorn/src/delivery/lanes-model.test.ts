// Random sequences of events against the lanes, compared with the few rules that must always hold: limits, order, turns,
// memory budget, release and loss. No database and no clock but the model's.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ClaimedDelivery, Target } from "../model.ts";
import { HEALTHY } from "../settle/endpoint-health.ts";
import type { Lane } from "./lane.ts";
import { Lanes, type Start } from "./lanes.ts";

const tenants = ["acme", "globex", "initech"];
/** With the higher one, lanes may use slots beyond their `maxInFlight`. */
const concurrencies = [8, 60];
const rate = 10;

/** The endpoints: two per tenant, one of them with a rate limit; ordered deliveries have one of two subjects. */
const targets = tenants.flatMap((tenant, index) =>
  [0, 1].map(
    (n) =>
      ({
        endpointId: `${tenant}-${n}`,
        tenant,
        url: `http://127.0.0.1/${tenant}-${n}`,
        version: 1,
        isActive: true,
        maxInFlight: 1 + index,
        // one tenant's endpoints have a fixed limit
        maxInFlightBurst: index === 1 ? 2 : 6,
        rateLimit: n === 1 ? rate : null,
        allowedPerMinute: null,
        ordering: "none",
        health: null,
      }) as unknown as Target,
  ),
);

class Model {
  now = 0;
  readonly lanes: Lanes;
  readonly admitted = new Set<string>();
  readonly withdrawn = new Set<string>();
  readonly started: { readonly delivery: ClaimedDelivery; readonly lane: Lane; readonly at: number }[] = [];
  readonly openedAt = new Map<Lane, number>();
  inFlight: Start[] = [];
  unsettled: Start[] = [];
  /** The most attempts that a lane had in flight beyond its `maxInFlight`. */
  mostBeyond = 0;
  readonly #concurrency: number;
  readonly #resumeAt = new Map<Lane, number>();
  #sequence = 0;

  constructor(concurrency = 8) {
    this.#concurrency = concurrency;
    this.lanes = new Lanes({ concurrency, clock: { now: () => this.now, databaseMs: () => this.now } });
  }

  laneOf(target: Target): Lane {
    const lane = this.lanes.get(target.endpointId) ?? this.lanes.open(target, null);
    if (!this.openedAt.has(lane)) this.openedAt.set(lane, this.now);
    return lane;
  }

  admit(target: Target, subject: string | null): void {
    const lane = this.laneOf(target);
    if (!lane.isOpen) return;
    this.#sequence += 1;
    const id = `d${this.#sequence}`;
    const event = { payload: Buffer.alloc(100), subject, sequence: this.#sequence };
    this.lanes.admit({ id, event, isOrdered: subject !== null } as unknown as ClaimedDelivery, lane);
    this.admitted.add(id);
  }

  start(): void {
    const starts = this.lanes.startNext();
    for (const lane of new Set(starts.map((start) => start.lane)))
      must(lane.inFlight <= lane.cap, "a lane starts no more than its current cap allows");
    for (const start of starts) {
      must(start.lane.isOpen && !start.lane.isBlocked, "a lane starts nothing unless it is open");
      this.started.push({ ...start, at: this.now });
      this.inFlight.push(start);
    }
    for (const effect of this.lanes.takeEffects()) {
      if (effect.kind === "resume") this.#resumeAt.set(effect.lane, this.now + effect.afterMs);
      if (effect.kind === "record health") effect.lane.isHealthUnrecorded = false;
    }
  }

  endAttempt(place: number, outcome: Outcome = "success"): void {
    const [start] = this.inFlight.splice(place % Math.max(1, this.inFlight.length), 1);
    if (start === undefined) return;
    this.#adjustCap(start.lane, outcome);
    this.lanes.attemptEnded(start.lane);
    this.unsettled.push(start);
  }

  #adjustCap(lane: Lane, outcome: Outcome): void {
    const before = lane.cap;
    const { maxInFlight } = lane.target;
    const failed = { kind: "failure", askedMs: null, error: "HTTP 500", isBusy: outcome === "busy" } as const;
    lane.adjustCap(outcome === "success" ? { kind: "success" } : failed, 1);
    if (outcome === "success") must(lane.cap <= before + 1, "a cap grows by one at a time");
    else {
      must(before <= maxInFlight || lane.cap < before, "a cap shrinks at the first failure");
      must(outcome === "failure" || lane.cap <= maxInFlight, "a busy receiver gets no more than the minimum");
    }
  }

  settle(): void {
    const start = this.unsettled.shift();
    if (start !== undefined) this.lanes.settled(start.delivery, start.lane, true);
  }

  pass(ms: number): void {
    this.now += ms;
    for (const [lane, at] of this.#resumeAt) {
      if (at > this.now) continue;
      this.#resumeAt.delete(lane);
      this.lanes.resume(lane);
    }
  }

  /** Releases what waits in the lane, as the keeper does. */
  withdraw(lane: Lane): void {
    const ids = this.lanes.withdrawWaiting(lane).map(({ id }) => id);
    for (const id of ids) this.withdrawn.add(id);
    this.lanes.releaseEnded(ids, true);
  }

  release(lane: Lane, isRefused: boolean): void {
    if (!lane.isOpen) this.withdraw(lane);
    // the promotions that are due are written by a fetch
    lane.order.freed.clear();
    lane.order.scanAfter = null;
    if (lane.isHolding) return;
    lane.beginRelease();
    if (isRefused) this.lanes.refuseRelease(lane);
    else this.lanes.close(lane);
  }

  lose(): void {
    for (const { id } of [...this.lanes.all()].flatMap((lane) => lane.waiting)) this.withdrawn.add(id);
    this.lanes.loseAll();
  }

  checkLimits(): void {
    must(this.inFlight.length <= this.#concurrency, "the worker's limit on attempts in flight holds");
    must(this.lanes.inFlight === this.inFlight.length, "every attempt in flight has a slot");
    for (const lane of this.lanes.all()) {
      const open = this.inFlight.filter((start) => start.lane === lane);
      must(open.length === lane.inFlight, "a lane knows its attempts in flight");
      const { maxInFlight, maxInFlightBurst } = lane.target;
      const most = Math.max(maxInFlight, maxInFlightBurst);
      this.mostBeyond = Math.max(this.mostBeyond, open.length - maxInFlight);
      must(open.length <= most, "an endpoint's limit on attempts in flight holds");
      must(lane.cap >= maxInFlight && lane.cap <= most, "a cap stays within its bounds");
      const unsettled = [...this.inFlight, ...this.unsettled].filter((start) => start.lane === lane);
      const subjects = unsettled.flatMap(({ delivery }) => delivery.event.subject ?? []);
      must(new Set(subjects).size === subjects.length, "a subject has one unsettled delivery at a time");
    }
  }
}

type Outcome = "success" | "failure" | "busy";

/** Much faster than `expect`, which the properties would call a million times. */
function must(holds: boolean, rule: string): void {
  if (!holds) throw new Error(`Violated: ${rule}`);
}

const anyTarget = fc.constantFrom(...targets);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant("admit"), anyTarget, fc.constantFrom(null, "s1", "s2")) },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant("end"),
      fc.nat(20),
      fc.constantFrom<Outcome>(...Array(8).fill("success"), "failure", "busy"),
    ),
  },
  { weight: 3, arbitrary: fc.tuple(fc.constant("settle")) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("pass"), fc.integer({ min: 1, max: 400 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("activate"), anyTarget, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("block"), anyTarget, fc.integer({ min: 1, max: 500 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("disable"), anyTarget, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("release"), anyTarget, fc.boolean()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("yield")) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("lose")) },
);

function run(model: Model, [kind, ...rest]: readonly unknown[]): void {
  const lane = () => model.laneOf(rest[0] as Target);
  if (kind === "admit") model.admit(rest[0] as Target, rest[1] as string | null);
  else if (kind === "end") model.endAttempt(rest[0] as number, rest[1] as Outcome);
  else if (kind === "settle") model.settle();
  else if (kind === "pass") model.pass(rest[0] as number);
  else if (kind === "activate")
    model.lanes.retarget(lane(), { ...(rest[0] as Target), isActive: rest[1] as boolean });
  else if (kind === "block")
    model.lanes.changeHealth(lane(), { ...HEALTHY, throttledUntilMs: model.now + (rest[1] as number) });
  else if (kind === "disable") {
    lane().beginDisabling();
    model.lanes.endDisabling(lane(), rest[1] as boolean);
  } else if (kind === "release") model.release(lane(), rest[1] as boolean);
  else if (kind === "yield") model.lanes.yieldSome(0.5);
  else model.lose();
}

test("limits, order and states hold after any sequence of events, and everything admitted is sent or released", () => {
  let mostBeyond = 0;
  const steps = fc.array(step, { size: "max", maxLength: 120 });
  fc.assert(
    fc.property(fc.constantFrom(...concurrencies), steps, (concurrency, steps) => {
      const model = new Model(concurrency);
      for (const each of steps) {
        run(model, each);
        model.start();
        model.checkLimits();
      }
      // to the end: endpoints are active, attempts end, time passes
      for (let round = 0; !model.lanes.isIdle; round += 1) {
        must(round < 2_000, "everything ends once attempts end and time passes");
        for (const lane of model.lanes.all()) {
          model.lanes.retarget(lane, { ...lane.target, isActive: true });
          if (lane.state === "yielding") model.withdraw(lane);
        }
        model.pass(100);
        while (model.inFlight.length > 0) model.endAttempt(0);
        while (model.unsettled.length > 0) model.settle();
        model.start();
        model.checkLimits();
      }
      const startedIds = model.started.map(({ delivery }) => delivery.id);
      expect(new Set(startedIds).size).toBe(startedIds.length);
      expect(new Set([...startedIds, ...model.withdrawn])).toEqual(model.admitted);
      expect(model.lanes.hasCapacity).toBe(true);
      expectRate(model);
      expectOrder(model);
      mostBeyond = Math.max(mostBeyond, model.mostBeyond);
    }),
    { numRuns: 300, seed: 1 },
  );
  expect(mostBeyond).toBeGreaterThan(0);
});

/** A bucket starts empty, so that the limit holds across owners: a lane never exceeds its rate since it was opened. */
function expectRate({ started, openedAt }: Model): void {
  for (const [lane, from] of openedAt) {
    if (lane.target.rateLimit === null) continue;
    const times = started.filter((start) => start.lane === lane).map(({ at }) => at);
    for (const [index, at] of times.entries())
      must(index + 1 <= ((at - from) / 1_000) * rate + 1e-6, "an endpoint's rate limit holds");
  }
}

function expectOrder({ started }: Model): void {
  const last = new Map<string, number>();
  for (const { delivery, lane } of started) {
    if (!delivery.isOrdered) continue;
    const key = `${lane.endpointId} ${delivery.event.subject}`;
    const sequence = delivery.event.sequence as number;
    must(sequence > (last.get(key) ?? 0), "a subject's deliveries start in order");
    last.set(key, sequence);
  }
}

test("tenants take turns, however much each has waiting", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 3, maxLength: 3 }), (counts) => {
      const model = new Model();
      for (const [index, tenant] of tenants.entries()) {
        const target = targets.find((one) => one.tenant === tenant && one.rateLimit === null) as Target;
        for (let n = 0; n < (counts[index] as number); n += 1)
          model.admit({ ...target, maxInFlight: 50, maxInFlightBurst: 50 }, null);
      }
      model.start();
      while (!model.lanes.isIdle) {
        model.endAttempt(0);
        model.settle();
        model.start();
      }
      // while all have something waiting, none is more than two starts ahead of another
      const least = Math.min(...counts);
      const starts = new Map(tenants.map((tenant) => [tenant, 0]));
      for (const { lane } of model.started) {
        starts.set(lane.tenant, (starts.get(lane.tenant) as number) + 1);
        const each = [...starts.values()];
        const isAhead = Math.max(...each) - Math.min(...each) > 2;
        must(!isAhead || Math.max(...each) > least, "no tenant is ahead of another that waits");
      }
    }),
    { numRuns: 100, seed: 1 },
  );
});
