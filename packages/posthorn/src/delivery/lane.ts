// One endpoint's lane while this worker owns it. The cap on attempts in flight, the rate and the circuit are exact
// because they are counted here and nowhere else: nobody but the owner sends to the endpoint.
import { performance } from "node:perf_hooks";
import { laneCapacity } from "../fan-out/lane-capacity.ts";
import type { ClaimedDelivery, EndpointHealth, Target, Uuid } from "../model.ts";
import { blockedUntilMs, HEALTHY } from "../settle/endpoint-health.ts";
import { FailureWindow } from "../settle/failure-window.ts";
import { RateBucket, rateOf } from "./rate-bucket.ts";
import { SubjectOrder } from "./subject-order.ts";

export class Lane {
  readonly endpointId: Uuid;
  readonly tenant: string;
  /** Claimed and in memory, not yet started. */
  readonly waiting: ClaimedDelivery[] = [];
  readonly window = new FailureWindow();
  readonly order = new SubjectOrder();
  inFlight = 0;
  /** Places promised to rows that an ingest statement in the air will bring. */
  reserved = 0;
  /** Answered, not yet written down. */
  unsettled = 0;
  /** A fetch for it is in the air. */
  isFetching = false;
  /** Rows may be owed in the database that are not in memory. */
  hasDue = false;
  /** There are so many of them that newcomers queue behind them, or they would wait for ever. */
  isBacklogged = false;
  /** Grows with every sign of owed rows; a fetch that began before the last sign proves nothing. */
  dueSignals = 0;
  /** Monotonic time at which the next owed row is due. */
  dueAt = Number.POSITIVE_INFINITY;
  /** Monotonic time of the last sign of work. */
  usedAt: number;
  /** Its endpoint is not active: nothing is started, and what waits is given back. */
  isPaused = false;
  /** Is being written down as not active: nothing is started from now on, and nobody may take it before that is done. */
  isDisabling = false;
  /** Being let go of: it takes nothing new. */
  isReleasing = false;
  /** Another worker has more time for it. */
  isYielding = false;
  /** Of a life that has ended; what it still holds is somebody else's. */
  isLost = false;
  /** Its health has changed since it was last written down. */
  isHealthUnrecorded = false;
  /** Looks again when a throttle, an open circuit or an empty bucket ends. */
  resumeTimer: NodeJS.Timeout | undefined;
  readonly #nowMs: () => number;
  #target: Target;
  #health: EndpointHealth = HEALTHY;
  #blockedUntilMs = 0;
  #bucket: RateBucket | null = null;

  /** `nowMs` is the database's time. */
  constructor(target: Target, health: EndpointHealth, nowMs: () => number) {
    this.endpointId = target.endpointId;
    this.tenant = target.tenant;
    this.#nowMs = nowMs;
    this.usedAt = performance.now();
    this.#target = target;
    this.target = target;
    this.health = health;
  }

  get target(): Target {
    return this.#target;
  }

  set target(target: Target) {
    this.#target = target;
    const rate = rateOf(target);
    if (this.#bucket?.perSecond === rate?.perSecond && this.#bucket?.burst === rate?.burst) return;
    this.#bucket = rate === null ? null : new RateBucket(rate.perSecond, performance.now(), rate.burst);
  }

  get health(): EndpointHealth {
    return this.#health;
  }

  set health(health: EndpointHealth) {
    this.#health = health;
    this.#blockedUntilMs = blockedUntilMs(health);
  }

  get isClosing(): boolean {
    return this.isPaused || this.isDisabling || this.isReleasing || this.isYielding;
  }

  /** There are rows this worker holds, or is about to hold, for the lane, or news of it that only this worker has. */
  get isHolding(): boolean {
    const held = this.waiting.length + this.inFlight + this.reserved + this.unsettled;
    const hasNews = this.isHealthUnrecorded || this.isDisabling;
    return this.isFetching || held > 0 || this.order.hasPendingTurns || hasNews;
  }

  /** The receiver asked for a pause, or its circuit is open: nothing is started, and what waits is given back. */
  get isBlocked(): boolean {
    return this.#blockedUntilMs !== 0 && this.#nowMs() < this.#blockedUntilMs;
  }

  /** Attempts that may be in flight. */
  get cap(): number {
    return Math.min(this.#target.maxInFlight, this.#health.allowance);
  }

  /** Rows that may still come into memory. A lane on trial holds no more than it may send. */
  get freeCapacity(): number {
    const held = this.waiting.length + this.reserved;
    if (this.#health.probeAtMs !== null) return this.cap - this.inFlight - held;
    return laneCapacity(this.#target) - held;
  }

  /** It would send more than it has in memory. */
  get needsFetch(): boolean {
    return !this.isClosing && this.waiting.length < this.cap && this.freeCapacity > 0;
  }

  /** A new event may be born claimed: it will be sent from memory soon. */
  get acceptsNewDeliveries(): boolean {
    return !this.isBacklogged && !this.isBlocked && this.#health.probeAtMs === null && this.freeCapacity > 0;
  }

  /** There is a place and work for one more attempt; `takeToken` has the last word. */
  get canStart(): boolean {
    const hasSlot = !this.isClosing && this.inFlight < this.cap && !this.isBlocked;
    return hasSlot && this.order.firstFree(this.waiting) !== -1;
  }

  /** The one to start; `canStart` says that there is one. */
  takeNext(): ClaimedDelivery {
    const place = this.order.firstFree(this.waiting);
    return (place === 0 ? this.waiting.shift() : this.waiting.splice(place, 1)[0]) as ClaimedDelivery;
  }

  takeToken(): boolean {
    return this.#bucket === null || this.#bucket.take(performance.now());
  }

  /** Its endpoint's own limits stand in the way of one more attempt, and not what this worker has to do. */
  get isAtLimit(): boolean {
    return this.inFlight >= this.cap || (this.#bucket?.waitMs(performance.now()) ?? 0) > 0;
  }

  /** Milliseconds after which it is worth looking at the lane again; zero when nothing but others stands in the way. */
  get pauseMs(): number {
    if (this.isBlocked) return this.#blockedUntilMs - this.#nowMs();
    return this.#bucket?.waitMs(performance.now()) ?? 0;
  }
}
