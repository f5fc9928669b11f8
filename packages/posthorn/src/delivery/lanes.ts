// The lanes this worker owns, and which of them may start an attempt next. Tenants take turns, and so do the lanes of
// a tenant: a flooded endpoint delays only itself.
//
// Without I/O, timers or promises: each method is an event that changes the lanes and adds effects, and the worker
// runs the effects (`takeEffects`). Only `startNext` starts attempts.
import type { ClaimedDelivery, EndpointHealth, RecordedHealth, Target, Uuid } from "../model.ts";
import { FairQueue, TenantShares } from "../service/fair-share.ts";
import { restoreHealth } from "../settle/endpoint-health.ts";
import { Lane, type LaneClock } from "./lane.ts";
import { isBefore } from "./subject-order.ts";
import { SubjectPromoter } from "./subject-promoter.ts";

/** An action that the worker has to take because of an event. */
export type Effect =
  /** A lane has capacity and due rows, or subjects to promote. */
  | { readonly kind: "fetch" }
  /** A lane has drained, or deliveries that cannot be started for a while wait in it: they have to be released. */
  | { readonly kind: "survey" }
  /** Starting was interrupted, so that publishes and responses get a turn of the event loop. */
  | { readonly kind: "continue" }
  | { readonly kind: "record health"; readonly lane: Lane }
  /** The worker calls `becomeDue` at this time, or earlier. */
  | { readonly kind: "become due"; readonly at: number }
  /**
   * The worker calls `resume` after this time: a throttle, an open circuit or an empty rate bucket ends, or a yielding
   * lane should have drained.
   */
  | { readonly kind: "resume"; readonly lane: Lane; readonly afterMs: number };

export interface Start {
  readonly delivery: ClaimedDelivery;
  readonly lane: Lane;
}

export interface LanesOptions {
  /** Attempts in flight in this process, for all endpoints together. */
  readonly concurrency: number;
  readonly clock: LaneClock;
}

/**
 * Memory budget for payloads. Beyond it, new deliveries stay in the database. The same amount again is reserved for
 * tenants that have nothing in memory.
 */
const maxHeldBytes = 64 * 1024 * 1024;
/** Payload bytes that are sent before the event loop gets a turn: about ten milliseconds of work. */
const bytesPerTurn = 4 * 1024 * 1024;
/** Longest delay of a `resume` effect. A longer pause is checked again when it has passed. */
const longestPauseMs = 60_000;
/** A yielding lane starts nothing. If its attempts take longer than this, it is not yielded for a while. */
const yieldMs = 1_000;
const notYieldedMs = 30_000;

const fetchEffect: Effect = { kind: "fetch" };
const surveyEffect: Effect = { kind: "survey" };
const continueEffect: Effect = { kind: "continue" };

export class Lanes {
  readonly #clock: LaneClock;
  readonly #lanes = new Map<Uuid, Lane>();
  readonly #heldIds = new Set<Uuid>();
  /** Deliveries being released: in the database this worker may still own them. */
  readonly #releasingIds = new Set<Uuid>();
  /** Deliveries whose release failed and may still take effect: they are not admitted again. */
  readonly #unconfirmedIds = new Set<Uuid>();
  /** Lanes with due rows, in the order of fetching. */
  readonly #fetchQueue = new FairQueue<Lane>();
  /** Lanes that may start an attempt. */
  readonly #startQueue = new FairQueue<Lane>();
  readonly #slots: TenantShares;
  readonly #heldBytes = new TenantShares(maxHeldBytes, maxHeldBytes);
  /**
   * The number of deliveries that share a payload, which is in memory once: one event may go to thousands of
   * endpoints.
   */
  readonly #sharers = new Map<Uint8Array, number>();
  readonly promoter = new SubjectPromoter();
  #effects: Effect[] = [];
  #isAccepting = true;
  #isInterrupted = false;
  /** A lane waits to be fetched because of the memory budget. */
  #lacksMemory = false;
  #slotFreedAt: number;

  constructor({ concurrency, clock }: LanesOptions) {
    this.#clock = clock;
    this.#slotFreedAt = clock.now();
    this.#slots = new TenantShares(concurrency);
  }

  /** Returns the effects since the last call. */
  takeEffects(): readonly Effect[] {
    if (this.#effects.length === 0) return this.#effects;
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  get(endpointId: Uuid): Lane | undefined {
    return this.#lanes.get(endpointId);
  }

  all(): IterableIterator<Lane> {
    return this.#lanes.values();
  }

  get size(): number {
    return this.#lanes.size;
  }

  get inFlight(): number {
    return this.#slots.total;
  }

  /** True if no delivery is waiting, in flight or unsettled. */
  get isIdle(): boolean {
    return this.#heldIds.size === 0;
  }

  /** Deliveries that this worker has claimed in the database, including those being released there. */
  get claimedIds(): Uuid[] {
    return [...this.#heldIds, ...this.#releasingIds];
  }

  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** True if there are slots and memory for more lanes. */
  get hasCapacity(): boolean {
    return this.#isAccepting && !this.#slots.isFull && !this.#heldBytes.isFull;
  }

  /** True if every slot is in use and none became free for this long: one more lane would only wait here. */
  isStuckFor(ms: number): boolean {
    return this.#slots.isFull && this.#clock.now() - this.#slotFreedAt > ms;
  }

  /**
   * Reserves capacity for a new delivery until `unreserve`. `own`: claim it in the statement that stores the event.
   * `queued`: the lane is owned but cannot accept it now. `draining`: the lane is owned but sends nothing more.
   * `foreign`: this worker does not own the lane.
   */
  reserve(target: Target): "own" | "queued" | "draining" | "foreign" {
    const lane = this.#lanes.get(target.endpointId);
    if (lane === undefined || lane.state === "releasing") return "foreign";
    if (target.version > lane.target.version) this.retarget(lane, target);
    lane.usedAt = this.#clock.now();
    if (!lane.isOpen) return "draining";
    if (!this.#isAccepting || !lane.acceptsNewDeliveries || !this.#heldBytes.mayTake(target.tenant)) {
      this.#signalDue(lane, "backlog");
      return "queued";
    }
    lane.reserved += 1;
    return "own";
  }

  /** Returns whether a delivery that another process stored for this lane can be admitted. */
  accepts(endpointId: Uuid, tenant: string, targetVersion: number): boolean {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined || !lane.isOpen || !this.#isAccepting) return false;
    return (
      targetVersion <= lane.target.version && lane.acceptsNewDeliveries && this.#heldBytes.mayTake(tenant)
    );
  }

  unreserve(endpointId: Uuid): void {
    const lane = this.#lanes.get(endpointId);
    if (lane !== undefined) lane.reserved -= 1;
  }

  open(target: Target, recorded: RecordedHealth | null): Lane {
    const lane = new Lane(target, restoreHealth(recorded), this.#clock);
    this.#lanes.set(lane.endpointId, lane);
    return lane;
  }

  /** Opens a lane that this worker has claimed. The database has rows for it. */
  openClaimed(target: Target, hasParked: boolean): void {
    const lane = this.open(target, target.health);
    if (hasParked) this.promoter.recheckAll(lane);
    this.#signalDue(lane, "backlog");
    this.#add(fetchEffect);
  }

  /** Applies changed settings; null if the endpoint was deleted. */
  retarget(lane: Lane, target: Target | null): void {
    const isRestarted = target !== null && (lane.state === "paused" || target.url !== lane.target.url);
    if (lane.target.ordering === "fifo" || target?.ordering === "fifo") {
      // held subjects may have been released
      this.promoter.recheckAll(lane);
      this.#add(fetchEffect);
    }
    lane.retarget(target);
    // deliveries may have waited since before a short pause
    this.#enqueue(lane);
    if (!isRestarted || lane.state === "paused") return;
    // after enabling or a new URL, the health is what the change left in the database
    this.changeHealth(lane, restoreHealth(target.health));
    this.markDue(lane);
  }

  /** The lane continues, or its waiting deliveries are released. */
  endDisabling(lane: Lane, isDisabled: boolean): void {
    lane.endDisabling(isDisabled);
    this.#enqueue(lane);
    this.markDue(lane);
    this.#add(surveyEffect);
  }

  /** The database has due rows for the lane; they are fetched when there is capacity. */
  markDue(lane: Lane): void {
    this.#signalDue(lane, "due");
    this.#add(fetchEffect);
  }

  /** The fetch that began at this signal count brought everything that was due. */
  markFetched(lane: Lane, signalsBefore: number): void {
    if (lane.dueSignals !== signalsBefore) return;
    lane.rows = "none";
    this.#fetchQueue.delete(lane);
  }

  /** A row of this lane becomes due after the delay. */
  dueIn(lane: Lane, delayMs: number): void {
    lane.dueAt = Math.min(lane.dueAt, this.#clock.now() + delayMs);
    this.#add({ kind: "become due", at: lane.dueAt });
  }

  /** Time has passed: rows became due. */
  becomeDue(): void {
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (lane.dueAt <= now) {
        lane.dueAt = Number.POSITIVE_INFINITY;
        this.markDue(lane);
      } else if (lane.dueAt < next) next = lane.dueAt;
    }
    if (next < Number.POSITIVE_INFINITY) this.#add({ kind: "become due", at: next });
  }

  /** True if a lane is queued for fetching. Does not change the order of the queue. */
  get hasLanesToFetch(): boolean {
    return this.#fetchQueue.size > 0;
  }

  /** Returns the next lanes to fetch for, and moves them to the end of the queue. */
  nextToFetch(limit: number): Lane[] {
    const turn: Lane[] = [];
    while (turn.length < limit) {
      const lane = this.#fetchQueue.shift(this.#heldBytes);
      if (lane === undefined) {
        this.#lacksMemory = this.#fetchQueue.size > 0;
        break;
      }
      // a full lane is queued again when one of its attempts ends
      if (lane.isBlocked) this.#resumeLater(lane);
      else if (lane.needsFetch) turn.push(lane);
    }
    for (const lane of turn) this.#fetchQueue.add(lane);
    return turn;
  }

  /** Adds a claimed delivery to its lane; it is sent when the lane has its turn. */
  admit(delivery: ClaimedDelivery, lane: Lane): void {
    if (this.#heldIds.has(delivery.id)) return;
    this.#heldIds.add(delivery.id);
    this.#hold(delivery, lane);
    lane.admit(delivery);
    if (lane.isBlocked) this.#add(surveyEffect);
    else this.#enqueue(lane);
  }

  /** Starts every attempt that may start, up to a few megabytes at a time. The worker sends them. */
  startNext(): Start[] {
    const starts: Start[] = [];
    if (this.#isInterrupted) return starts;
    let bytes = 0;
    while (!this.#slots.isFull && bytes <= bytesPerTurn) {
      const lane = this.#startQueue.shift(this.#slots);
      if (lane === undefined) return starts;
      if (!lane.canStart || this.#exceedsShare(lane)) continue;
      if (!lane.takeToken()) {
        this.#resumeLater(lane);
        continue;
      }
      const delivery = lane.startNext();
      bytes += delivery.event.payload.byteLength;
      this.#slots.take(lane.tenant, 1);
      this.#enqueue(lane);
      starts.push({ delivery, lane });
    }
    if (bytes > bytesPerTurn) {
      this.#isInterrupted = true;
      this.#add(continueEffect);
    }
    return starts;
  }

  /**
   * Beyond its endpoint's `max_in_flight`, a lane uses at most an eighth of the free slots: one alone gets 56 of 500, ten
   * get 28 each, and if all of them hang, lanes within their limit still find slots. The lane is queued again when one of
   * its attempts ends.
   */
  #exceedsShare({ inFlight, target }: Lane): boolean {
    return inFlight >= target.maxInFlight && inFlight >= this.#slots.free / 8;
  }

  /** The event loop had its turn. */
  continueStarting(): void {
    this.#isInterrupted = false;
  }

  /** The attempt has an outcome, and its slot is free. The delivery is held until it is settled. */
  attemptEnded(lane: Lane): void {
    lane.inFlight -= 1;
    this.#slots.release(lane.tenant, 1);
    this.#slotFreedAt = this.#clock.now();
    lane.usedAt = this.#slotFreedAt;
    this.#enqueue(lane);
    if (lane.rows === "none" || !lane.needsFetch) return;
    this.#fetchQueue.add(lane);
    this.#add(fetchEffect);
  }

  /** The delivery was settled, or the settlement was refused because another worker owns it. */
  settled(delivery: ClaimedDelivery, lane: Lane, isOver: boolean): void {
    lane.settled(delivery);
    this.#release(delivery, lane);
    this.#enqueue(lane);
    this.releaseIfDrained(lane);
    if (!delivery.isOrdered || !isOver || lane.isGone) return;
    // the next delivery of the subject gets its turn at the next fetch
    this.promoter.promoteNext(lane, delivery.event.subject as string);
    this.#add(fetchEffect);
  }

  /** A survey releases a draining lane as soon as it holds nothing. Called whenever something that it held has ended. */
  releaseIfDrained(lane: Lane): void {
    if (lane.isDraining && !lane.isHolding) this.#add(surveyEffect);
  }

  /** Applies what an attempt revealed about the endpoint. A blocked lane starts nothing, and nothing waits in it. */
  changeHealth(lane: Lane, health: EndpointHealth): void {
    if (health === lane.health) return;
    lane.health = health;
    lane.isHealthUnrecorded = true;
    this.#add({ kind: "record health", lane });
    if (!lane.isBlocked) return;
    if (lane.waiting.length > 0) this.#add(surveyEffect);
    this.#resumeLater(lane);
  }

  /** Returns the blocked lanes whose health in the database is current. */
  blockedAsRecorded(): ReadonlyMap<Lane, EndpointHealth> {
    const blocked = [...this.#lanes.values()].filter((lane) => lane.isBlocked && !lane.isHealthUnrecorded);
    return new Map(blocked.map((lane) => [lane, lane.health]));
  }

  /** A person moved the probe of an open circuit forward. */
  bringProbeForward(lane: Lane, probeAtMs: number): void {
    if (probeAtMs < (lane.health.probeAtMs ?? 0)) this.changeHealth(lane, { ...lane.health, probeAtMs });
  }

  /** The pause of the lane may have ended. */
  resume(lane: Lane): void {
    if (lane.isGone) return;
    if (lane.state === "yielding" && lane.isHolding) {
      lane.reopenAndKeepUntil(this.#clock.now() + notYieldedMs);
      this.markDue(lane);
    }
    if (lane.isBlocked) {
      this.#resumeLater(lane);
      return;
    }
    this.#enqueue(lane);
    if (lane.rows !== "none") this.markDue(lane);
  }

  /**
   * Removes what has not been started from a lane: everything, or what follows a delivery in its subject. The caller
   * releases it in the database and reports the end by `releaseEnded`.
   */
  withdrawWaiting(lane: Lane, after: ClaimedDelivery | null = null): readonly ClaimedDelivery[] {
    const isWithdrawn = (other: ClaimedDelivery) => after === null || isBefore(after, other);
    const withdrawn = lane.waiting.filter(isWithdrawn);
    if (withdrawn.length === 0) return [];
    lane.waiting.splice(0, lane.waiting.length, ...lane.waiting.filter((other) => !isWithdrawn(other)));
    for (const delivery of withdrawn) {
      this.#releasingIds.add(delivery.id);
      this.#release(delivery, lane);
    }
    this.#signalDue(lane, "backlog");
    return withdrawn;
  }

  /** These deliveries were claimed by this worker but not admitted. The caller releases them like withdrawn ones. */
  refuse(ids: readonly Uuid[]): void {
    for (const id of ids) this.#releasingIds.add(id);
  }

  releaseEnded(ids: readonly Uuid[], isReleased: boolean): void {
    for (const id of ids) {
      this.#releasingIds.delete(id);
      if (!isReleased) this.#unconfirmedIds.add(id);
    }
  }

  isUnconfirmed(id: Uuid): boolean {
    return this.#unconfirmedIds.has(id);
  }

  /** Reconciliation has found all of them. */
  clearUnconfirmed(): void {
    this.#unconfirmedIds.clear();
  }

  /** Drains this many lanes, so that they are released when their last attempt has ended. */
  yieldSome(count: number): void {
    let left = count;
    for (const lane of this.#lanes.values()) {
      if (left === 0) return;
      if (!lane.isOpen || lane.notYieldedUntil > this.#clock.now()) continue;
      lane.yield();
      this.#add({ kind: "resume", lane, afterMs: yieldMs });
      left -= 1;
    }
  }

  /** The lane was released in the database, or is not this worker's there. */
  close(lane: Lane): void {
    lane.close();
    this.#forget(lane);
  }

  /** Rows were inserted meanwhile: the lane has work now. */
  refuseRelease(lane: Lane): void {
    lane.refuseRelease();
    if (!lane.isGone) this.markDue(lane);
  }

  /** This worker was reaped and no longer owns anything. Requests in flight end, and their outcomes are ignored. */
  loseAll(): void {
    for (const lane of this.#lanes.values()) {
      lane.lose();
      this.#forget(lane);
    }
    this.#heldIds.clear();
    this.#heldBytes.clear();
    this.#sharers.clear();
  }

  /** Accepts no more deliveries or lanes, until `acceptAgain`. */
  stopAccepting(): void {
    this.#isAccepting = false;
  }

  acceptAgain(): void {
    this.#isAccepting = true;
  }

  #forget(lane: Lane): void {
    this.#fetchQueue.delete(lane);
    this.#startQueue.delete(lane);
    if (this.#lanes.get(lane.endpointId) === lane) this.#lanes.delete(lane.endpointId);
  }

  #enqueue(lane: Lane): void {
    if (lane.canStart) this.#startQueue.add(lane);
  }

  #signalDue(lane: Lane, rows: "due" | "backlog"): void {
    if (lane.isGone) return;
    if (lane.rows !== "backlog") lane.rows = rows;
    lane.dueSignals += 1;
    this.#fetchQueue.add(lane);
  }

  #resumeLater(lane: Lane): void {
    if (!this.#isAccepting || lane.isGone || lane.state === "releasing") return;
    const afterMs = Math.min(longestPauseMs, Math.max(1, lane.pauseMs));
    this.#add({ kind: "resume", lane, afterMs });
  }

  #add(effect: Effect): void {
    this.#effects.push(effect);
  }

  #hold({ event: { payload } }: ClaimedDelivery, lane: Lane): void {
    const sharers = this.#sharers.get(payload) ?? 0;
    this.#sharers.set(payload, sharers + 1);
    if (sharers === 0) this.#heldBytes.take(lane.tenant, payload.byteLength);
  }

  #release({ id, event: { payload } }: ClaimedDelivery, lane: Lane): void {
    if (lane.state === "lost" || !this.#heldIds.delete(id)) return;
    const others = (this.#sharers.get(payload) ?? 1) - 1;
    if (others > 0) this.#sharers.set(payload, others);
    else {
      this.#sharers.delete(payload);
      this.#heldBytes.release(lane.tenant, payload.byteLength);
      if (!this.#lacksMemory) return;
      this.#lacksMemory = false;
      this.#add(fetchEffect);
    }
  }
}
