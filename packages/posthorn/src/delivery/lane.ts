// The lane of one endpoint while this worker owns it. The limits on attempts in flight, rate and circuit are exact
// because only the owner sends to the endpoint and counts here.
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
  /** Deliveries that are claimed and in memory, but not started. */
  readonly waiting: ClaimedDelivery[] = [];
  readonly window = new FailureWindow();
  readonly order = new SubjectOrder();
  inFlight = 0;
  /** Capacity reserved for rows of an ingest statement that is in progress. */
  reserved = 0;
  /** Deliveries with an outcome that is not yet settled. */
  unsettled = 0;
  /** A fetch for this lane is in progress. */
  isFetching = false;
  /** The database may have due rows that are not in memory. */
  hasDue = false;
  /** New deliveries queue behind the due rows in the database, which would otherwise never be fetched. */
  isBacklogged = false;
  /**
   * Incremented whenever rows may have become due; a fetch that began before the last increment may have missed some.
   */
  dueSignals = 0;
  /** Monotonic time at which the next row becomes due. */
  dueAt = Number.POSITIVE_INFINITY;
  /** Monotonic time of the last activity. */
  usedAt: number;
  /** The endpoint is not active: nothing is started, and waiting deliveries are released. */
  isPaused = false;
  /** The endpoint is being disabled: nothing is started, and the lane is not released until that is written. */
  isDisabling = false;
  /** The lane is being released and accepts nothing new. */
  isReleasing = false;
  /** The lane is released when its last attempt has ended, because another worker has more time for it. */
  isYielding = false;
  /** The worker was reaped: the lane's deliveries belong to another worker. */
  isLost = false;
  /** The health has changed since it was last written. */
  isHealthUnrecorded = false;
  /** Resumes the lane when a throttle, an open circuit or an empty rate bucket ends. */
  resumeTimer: NodeJS.Timeout | undefined;
  readonly #nowMs: () => number;
  #target: Target;
  #health: EndpointHealth = HEALTHY;
  #blockedUntilMs = 0;
  #bucket: RateBucket | null = null;

  /** `nowMs` returns the database's time. */
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

  /** True while the lane has deliveries, or state that is not yet written. */
  get isHolding(): boolean {
    const held = this.waiting.length + this.inFlight + this.reserved + this.unsettled;
    const hasNews = this.isHealthUnrecorded || this.isDisabling;
    return this.isFetching || held > 0 || this.order.hasPendingTurns || hasNews;
  }

  /** True during a throttle or while the circuit is open: nothing is started, and waiting deliveries are released. */
  get isBlocked(): boolean {
    return this.#blockedUntilMs !== 0 && this.#nowMs() < this.#blockedUntilMs;
  }

  /** The number of attempts that may be in flight. */
  get cap(): number {
    return Math.min(this.#target.maxInFlight, this.#health.allowance);
  }

  /** The number of rows that may still be fetched into memory. A half-open lane holds no more than it may send. */
  get freeCapacity(): number {
    const held = this.waiting.length + this.reserved;
    if (this.#health.probeAtMs !== null) return this.cap - this.inFlight - held;
    return laneCapacity(this.#target) - held;
  }

  /** True if the lane could send more than it has in memory. */
  get needsFetch(): boolean {
    return !this.isClosing && this.waiting.length < this.cap && this.freeCapacity > 0;
  }

  /** True if a new delivery may be inserted claimed, to be sent from memory soon. */
  get acceptsNewDeliveries(): boolean {
    return !this.isBacklogged && !this.isBlocked && this.#health.probeAtMs === null && this.freeCapacity > 0;
  }

  /** True if one more attempt may start, apart from the rate limit (`takeToken`). */
  get canStart(): boolean {
    const hasSlot = !this.isClosing && this.inFlight < this.cap && !this.isBlocked;
    return hasSlot && this.order.firstFree(this.waiting) !== -1;
  }

  /** Returns the delivery to start. Call it only if `canStart` is true. */
  takeNext(): ClaimedDelivery {
    const place = this.order.firstFree(this.waiting);
    return (place === 0 ? this.waiting.shift() : this.waiting.splice(place, 1)[0]) as ClaimedDelivery;
  }

  takeToken(): boolean {
    return this.#bucket === null || this.#bucket.take(performance.now());
  }

  /** True if the endpoint's own limits, rather than this worker's load, prevent one more attempt. */
  get isAtLimit(): boolean {
    return this.inFlight >= this.cap || (this.#bucket?.waitMs(performance.now()) ?? 0) > 0;
  }

  /** Milliseconds until the lane may be able to start again; 0 if only other lanes are in the way. */
  get pauseMs(): number {
    if (this.isBlocked) return this.#blockedUntilMs - this.#nowMs();
    return this.#bucket?.waitMs(performance.now()) ?? 0;
  }
}
