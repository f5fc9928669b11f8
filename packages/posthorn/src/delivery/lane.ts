// The lane of one endpoint while this worker owns it. The limits on attempts in flight, rate and circuit are exact
// because only the owner sends to the endpoint and counts here.
//
//   claimed ─► open ─────────────┬──────────────► draining ◄──┐ another reason
//               ▲  ▲             │ idle              │    └───┘
//               │  │             ▼                   │
//               │  └─ refused ─ releasing ◄──────────┤ nothing held
//               │               │                    │
//               │               ▼ released           │
//               │             closed                 │
//               └────────────────────────────────────┘ the endpoint is active again or was not disabled, or a yielding
//                                                      lane does not drain in time
//
//   lost: this worker was reaped, from every state; the lane's deliveries belong to another worker
//
// A draining lane starts nothing, and its waiting deliveries are released. A lane can be releasing only while it holds
// nothing; the database refuses the release if rows were inserted meanwhile. The lane is then open again, or paused if
// the endpoint is not active.
import type { ClaimedDelivery, EndpointHealth, Target, Uuid } from "../model.ts";
import { blockedUntilMs, FailureWindow, HEALTHY, type HealthSignal } from "../settle/endpoint-health.ts";
import type { LaneLimit } from "../storage/queries/lanes/mark-limited.ts";
import { AdaptiveLimit } from "./adaptive-limit.ts";
import { RateBucket, rateOf } from "./rate-bucket.ts";
import { SubjectOrder } from "./subject-order.ts";

/**
 * Why a lane drains. `paused`: the endpoint is not active. `disabling`: the endpoint is being disabled, and the lane is
 * not released until that is written. `yielding`: another worker is less busy.
 */
export type DrainReason = "paused" | "disabling" | "yielding";
export type LaneState = "open" | DrainReason | "releasing" | "closed" | "lost";

const transitions: Readonly<Record<LaneState, readonly LaneState[]>> = {
  open: ["paused", "disabling", "yielding", "releasing", "lost"],
  paused: ["open", "disabling", "releasing", "lost"],
  disabling: ["open", "paused", "lost"],
  yielding: ["open", "paused", "disabling", "releasing", "lost"],
  releasing: ["open", "paused", "closed", "lost"],
  closed: [],
  lost: [],
};

const NONE: ReadonlyMap<ClaimedDelivery, number> = new Map();

/** Times are monotonic except where a name says that they are the database's. */
export interface LaneClock {
  readonly now: () => number;
  readonly databaseMs: () => number;
}

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
  /** A fetch for this lane is in progress. */
  isFetching = false;
  /**
   * The rows in the database that are not in memory: `due` if some may be due, `backlog` if new deliveries have to queue
   * behind them, because they would otherwise never be fetched.
   */
  rows: "none" | "due" | "backlog" = "none";
  /**
   * Incremented whenever rows may have become due; a fetch that began before the last increment may have missed some.
   */
  dueSignals = 0;
  /** When the next row becomes due. */
  dueAt = Number.POSITIVE_INFINITY;
  /** The lane is not yielded before this time. */
  notYieldedUntil = Number.NEGATIVE_INFINITY;
  /** Time of the last activity. */
  usedAt: number;
  /** The health has changed since it was last written. */
  isHealthUnrecorded = false;
  readonly #clock: LaneClock;
  #state: LaneState = "open";
  /** False if the endpoint is paused, disabled or deleted, whatever the lane is doing. */
  #isActive = true;
  #target: Target;
  #health: EndpointHealth = HEALTHY;
  #blockedUntilMs = 0;
  #bucket: RateBucket | null = null;
  readonly #limit: AdaptiveLimit;
  /** Deliveries that were started and are not yet settled. */
  readonly #unsettled = new Set<ClaimedDelivery>();
  /** Waiting and unsettled deliveries, and the time of the survey that saw them first. */
  #waitingSince = NONE;
  #sentSince = NONE;

  constructor(target: Target, health: EndpointHealth, clock: LaneClock) {
    this.endpointId = target.endpointId;
    this.tenant = target.tenant;
    this.#clock = clock;
    this.usedAt = clock.now();
    this.#target = target;
    this.#limit = new AdaptiveLimit(clock.now);
    this.#setLimits(target);
    this.health = health;
  }

  get state(): LaneState {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** True if the lane sends nothing more unless it is opened again. */
  get isDraining(): boolean {
    return this.#state === "paused" || this.#state === "disabling" || this.#state === "yielding";
  }

  /** True if this worker no longer owns the lane. */
  get isGone(): boolean {
    return this.#state === "closed" || this.#state === "lost";
  }

  /** Applies the endpoint's settings; null if it was deleted. */
  retarget(target: Target | null): void {
    if (target !== null) {
      // the limit grew by responses of the previous URL
      if (target.url !== this.#target.url) this.#limit.reset();
      this.#target = target;
      this.#setLimits(target);
    }
    this.#isActive = target?.isActive === true;
    if (this.#state === "open" || this.#state === "yielding") {
      if (!this.#isActive) this.#move("paused");
    } else if (this.#state === "paused" && this.#isActive) this.#move("open");
  }

  beginDisabling(): void {
    this.#move("disabling");
  }

  /** `isDisabled` is false if the endpoint had changed meanwhile, or the database could not be reached. */
  endDisabling(isDisabled: boolean): void {
    if (isDisabled) this.#isActive = false;
    if (this.#state === "disabling") this.#move(this.#isActive ? "open" : "paused");
  }

  yield(): void {
    this.#move("yielding");
  }

  /** Reopens a yielding lane whose attempts take too long, and prevents another yield until this time. */
  reopenAndKeepUntil(time: number): void {
    this.#move("open");
    this.notYieldedUntil = time;
  }

  beginRelease(): void {
    if (this.isHolding) throw new Error("a lane that holds deliveries cannot be released");
    // a release whose statement failed is repeated
    if (this.#state !== "releasing") this.#move("releasing");
  }

  /** The lane has rows in the database and remains with this worker. */
  refuseRelease(): void {
    if (this.#state === "releasing") this.#move(this.#isActive ? "open" : "paused");
  }

  close(): void {
    this.#move("closed");
  }

  lose(): void {
    this.#move("lost");
    this.waiting.length = 0;
  }

  #move(to: LaneState): void {
    if (!transitions[this.#state].includes(to))
      throw new Error(`a lane cannot change from ${this.#state} to ${to}`);
    this.#state = to;
  }

  get target(): Target {
    return this.#target;
  }

  #setLimits(target: Target): void {
    const { maxInFlight, maxInFlightBurst, allowedPerMinute } = target;
    // a receiver that allows a rate has stated what it can handle
    this.#limit.setBounds(maxInFlight, allowedPerMinute === null ? maxInFlightBurst : maxInFlight);
    const rate = rateOf(target);
    if (this.#bucket?.perSecond === rate?.perSecond && this.#bucket?.burst === rate?.burst) return;
    this.#bucket = rate === null ? null : new RateBucket(rate.perSecond, this.#clock.now(), rate.burst);
  }

  get health(): EndpointHealth {
    return this.#health;
  }

  set health(health: EndpointHealth) {
    this.#health = health;
    this.#blockedUntilMs = blockedUntilMs(health);
  }

  /** True while the lane has deliveries, or state that is not yet written. */
  get isHolding(): boolean {
    const held = this.waiting.length + this.inFlight + this.reserved + this.#unsettled.size;
    const isUnwritten = this.isHealthUnrecorded || this.#state === "disabling";
    return this.isFetching || held > 0 || this.order.hasPendingPromotions || isUnwritten;
  }

  /** True during a throttle or while the circuit is open: nothing is started, and waiting deliveries are released. */
  get isBlocked(): boolean {
    return this.#blockedUntilMs !== 0 && this.#clock.databaseMs() < this.#blockedUntilMs;
  }

  /** The highest number of attempts in flight. After it has shrunk, more may be in flight until they end. */
  get cap(): number {
    return Math.min(this.#limit.current, this.#health.allowance);
  }

  /** Adjusts the cap to the outcome of an attempt, which still counts as in flight. */
  adjustCap(signal: HealthSignal, durationMs: number): void {
    if (signal.kind === "success") {
      const isReached = this.inFlight >= this.#limit.current && this.order.firstFree(this.waiting) !== -1;
      this.#limit.succeeded(durationMs, isReached);
    } else if (signal.kind === "throttled" || (signal.kind === "failure" && signal.isBusy))
      this.#limit.reset();
    else if (signal.kind === "failure") this.#limit.halve();
  }

  /** The number of rows that may still be fetched into memory. A half-open lane holds no more than it may send. */
  get freeCapacity(): number {
    const held = this.waiting.length + this.reserved;
    if (this.#health.probeAtMs !== null) return this.cap - this.inFlight - held;
    return laneCapacity(this.#target, this.cap) - held;
  }

  /** True if the lane could send more than it has in memory. */
  get needsFetch(): boolean {
    return this.isOpen && this.waiting.length < this.cap && this.freeCapacity > 0;
  }

  /** True if a new delivery may be claimed in the statement that stores its event, to be sent from memory. */
  get acceptsNewDeliveries(): boolean {
    if (this.rows === "backlog" || this.isBlocked || this.#health.probeAtMs !== null) return false;
    return this.freeCapacity > 0;
  }

  /** True if one more attempt may start, apart from the rate limit (`takeToken`). */
  get canStart(): boolean {
    const hasSlot = this.isOpen && this.inFlight < this.cap && !this.isBlocked;
    return hasSlot && this.order.firstFree(this.waiting) !== -1;
  }

  /** Adds a delivery to those that wait. */
  admit(delivery: ClaimedDelivery): void {
    this.order.insert(delivery, this.waiting);
    this.usedAt = this.#clock.now();
  }

  /** Returns the delivery to start, which is in flight and unsettled now. Call it only if `canStart` is true. */
  startNext(): ClaimedDelivery {
    const index = this.order.firstFree(this.waiting);
    const delivery = index === 0 ? this.waiting.shift() : this.waiting.splice(index, 1)[0];
    this.order.begin(delivery as ClaimedDelivery);
    this.inFlight += 1;
    this.#unsettled.add(delivery as ClaimedDelivery);
    return delivery as ClaimedDelivery;
  }

  settled(delivery: ClaimedDelivery): void {
    this.#unsettled.delete(delivery);
    this.order.end(delivery);
  }

  takeToken(): boolean {
    return this.#bucket === null || this.#bucket.take(this.#clock.now());
  }

  /** The endpoint's own limit that prevents one more attempt; null if at most this worker's load does. */
  get #limitReached(): LaneLimit | null {
    if (this.inFlight >= this.cap) return "cap";
    return (this.#bucket?.waitMs(this.#clock.now()) ?? 0) > 0 ? "rate_limit" : null;
  }

  /**
   * Returns the limit that deliveries, in the backlog or in memory, have waited for this long, and the deliveries that
   * have been sent for this long. Each survey calls it once, so that starting an attempt costs nothing more.
   */
  surveyLimit(
    afterMs: number,
    isBacklogLate: boolean,
  ): { readonly limitedBy: LaneLimit | null; readonly sending: string | null } {
    if (!isBacklogLate && this.waiting.length === 0) {
      this.#waitingSince = this.#sentSince = NONE;
      return NOT_LIMITED;
    }
    const now = this.#clock.now();
    this.#waitingSince = sinceSurvey(this.waiting, this.#waitingSince, now);
    this.#sentSince = sinceSurvey(this.#unsettled, this.#sentSince, now);
    const isLate = isBacklogLate || seenFor(this.#waitingSince, now - afterMs).length > 0;
    const limitedBy = isLate ? this.#limitReached : null;
    if (limitedBy === null) return NOT_LIMITED;
    return { limitedBy, sending: seenFor(this.#sentSince, now - afterMs).join() };
  }

  /** Milliseconds until the lane may be able to start again; 0 if only other lanes are in the way. */
  get pauseMs(): number {
    if (this.isBlocked) return this.#blockedUntilMs - this.#clock.databaseMs();
    return this.#bucket?.waitMs(this.#clock.now()) ?? 0;
  }
}

const NOT_LIMITED = { limitedBy: null, sending: null } as const;

function sinceSurvey(
  present: Iterable<ClaimedDelivery>,
  before: ReadonlyMap<ClaimedDelivery, number>,
  now: number,
): ReadonlyMap<ClaimedDelivery, number> {
  const since = new Map<ClaimedDelivery, number>();
  for (const delivery of present) since.set(delivery, before.get(delivery) ?? now);
  return since;
}

function seenFor(since: ReadonlyMap<ClaimedDelivery, number>, latest: number): Uuid[] {
  return [...since].filter(([, at]) => at <= latest).map(([{ id }]) => id);
}

/**
 * Returns the number of rows of one lane that a worker holds in memory besides those in flight: enough to keep the
 * endpoint busy, and few enough that a crash leaves few unknown outcomes. `cap`: the attempts that the lane may have in
 * flight now.
 */
export function laneCapacity(
  { maxInFlight, rateLimit }: Pick<Target, "maxInFlight" | "rateLimit">,
  cap = maxInFlight,
): number {
  const inFlight = Math.max(maxInFlight, cap);
  const capacity = Math.max(50, inFlight * 2);
  // two seconds of work, so that other workers can claim the rest
  return rateLimit === null ? capacity : Math.min(capacity, Math.max(inFlight, rateLimit * 2));
}
