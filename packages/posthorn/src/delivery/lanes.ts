// The lanes this worker owns, and which of them may start an attempt next. Tenants take turns, and so do the lanes of
// a tenant: a flooded endpoint delays only itself.
import { performance } from "node:perf_hooks";
import type { ClaimedDelivery, EndpointHealth, Target, Uuid } from "../model.ts";
import { FairQueue } from "../service/fair-queue.ts";
import { TenantShares } from "../service/tenant-shares.ts";
import { restoreHealth } from "../settle/endpoint-health.ts";
import { claim } from "../storage/queries/events/ingest.ts";
import { Lane } from "./lane.ts";
import { isBefore } from "./subject-order.ts";
import { SubjectPromoter } from "./subject-promoter.ts";

export interface LanesOptions {
  /** Attempts in flight in this process, for all endpoints together. */
  readonly concurrency: number;
  /** Returns the database's time. */
  readonly nowMs: () => number;
  /** Makes one attempt. Resolves when the endpoint may be sent the next one. */
  readonly attempt: (delivery: ClaimedDelivery, lane: Lane) => Promise<void>;
  /** False while the lease is too old to start an attempt. */
  readonly mayStart: () => boolean;
  /** False while other workers have more time than this one. */
  readonly mayAcquireLanes: () => boolean;
  /** A lane has capacity and due rows. */
  readonly onFetchNeeded: () => void;
  /** The deliveries waiting in a lane cannot be started for a while and have to be released. */
  readonly onBlocked: () => void;
  readonly onHealthChanged: (lane: Lane) => void;
}

/**
 * Memory budget for payloads. Beyond it, new deliveries stay in the database. The same amount again is reserved for
 * tenants that have nothing in memory.
 */
const maxHeldBytes = 64 * 1024 * 1024;
/** Payload bytes that are sent before the event loop gets a turn: about ten milliseconds of work. */
const bytesPerTurn = 4 * 1024 * 1024;

export class Lanes {
  readonly #options: LanesOptions;
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
  #isAccepting = true;
  #isYielding = false;
  #onIdle: (() => void)[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#slots = new TenantShares(options.concurrency);
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

  get heldIds(): ReadonlySet<Uuid> {
    return this.#heldIds;
  }

  /** Deliveries that the database rightly attributes to this worker, or will for a moment only. */
  get claimedIds(): Uuid[] {
    return [...this.#heldIds, ...this.#releasingIds];
  }

  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** True if this worker has capacity for more lanes. */
  get hasCapacity(): boolean {
    return (
      this.#isAccepting && !this.#slots.isFull && !this.#heldBytes.isFull && this.#options.mayAcquireLanes()
    );
  }

  /** Decides whether a new delivery of this target is inserted claimed. A reservation is returned by `unreserve`. */
  reserve(target: Target): { claim: 0 | 1 | 2; isForeign: boolean } {
    const lane = this.#lanes.get(target.endpointId);
    if (lane === undefined || lane.isReleasing) {
      return { claim: target.isActive && this.hasCapacity ? claim.ifGained : claim.none, isForeign: true };
    }
    if (target.version > lane.target.version) this.retarget(lane, target);
    lane.usedAt = performance.now();
    if (lane.isPaused || lane.isDisabling || lane.isYielding) return { claim: claim.none, isForeign: true };
    if (!this.#isAccepting || !lane.acceptsNewDeliveries || !this.#heldBytes.mayTake(target.tenant)) {
      lane.isBacklogged = true;
      this.#signalDue(lane);
      return { claim: claim.none, isForeign: false };
    }
    lane.reserved += 1;
    return { claim: claim.mine, isForeign: false };
  }

  /** Applies changed settings; null if the endpoint was deleted. The keeper releases what waits in a paused lane. */
  retarget(lane: Lane, target: Target | null): void {
    const wasPaused = lane.isPaused;
    const isAnew = target !== null && (wasPaused || target.url !== lane.target.url);
    if (lane.target.ordering === "fifo" || target?.ordering === "fifo") {
      // held subjects may have been released
      this.promoter.recheckAll(lane);
      this.#options.onFetchNeeded();
    }
    if (target !== null) lane.target = target;
    lane.isPaused = target?.isActive !== true;
    // after enabling or a new URL, the health is what the change left in the database
    if (isAnew && !lane.isPaused) {
      this.changeHealth(lane, restoreHealth(target.health));
      this.markDue(lane);
    }
  }

  unreserve(endpointId: Uuid): void {
    const lane = this.#lanes.get(endpointId);
    if (lane !== undefined) lane.reserved -= 1;
  }

  open(target: Target, health: EndpointHealth): Lane {
    const lane = new Lane(target, health, this.#options.nowMs);
    this.#lanes.set(lane.endpointId, lane);
    return lane;
  }

  /** The database has due rows for the lane; they are fetched when there is capacity. */
  markDue(lane: Lane): void {
    this.#signalDue(lane);
    this.#options.onFetchNeeded();
  }

  /** The fetch that began at this signal count brought everything that was due. */
  markFetched(lane: Lane, signalsBefore: number): void {
    if (lane.dueSignals !== signalsBefore) return;
    lane.hasDue = false;
    lane.isBacklogged = false;
    this.#fetchQueue.delete(lane);
  }

  /** Does not change the order of the queue. */
  get hasLanesToFetch(): boolean {
    return this.#fetchQueue.size > 0;
  }

  /** Returns the next lanes to fetch for, and moves them to the end of the queue. */
  nextToFetch(limit: number): Lane[] {
    const turn: Lane[] = [];
    while (turn.length < limit) {
      const lane = this.#fetchQueue.shift((tenant) => this.#heldBytes.mayTake(tenant));
      if (lane === undefined) break;
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
    lane.order.lineUp(delivery, lane.waiting);
    lane.usedAt = performance.now();
    if (lane.isBlocked) this.#options.onBlocked();
    else this.#enqueue(lane);
  }

  /** Starts every attempt that may start. Called whenever that could have changed. */
  pump(): void {
    if (this.#isYielding || !this.#options.mayStart()) return;
    let bytes = 0;
    while (!this.#slots.isFull && bytes <= bytesPerTurn) {
      const lane = this.#startQueue.shift((tenant) => this.#slots.mayTake(tenant));
      if (lane === undefined) return;
      if (!lane.canStart) continue;
      if (!lane.takeToken()) {
        this.#resumeLater(lane);
        continue;
      }
      const delivery = lane.takeNext();
      bytes += delivery.event.payload.byteLength;
      lane.order.begin(delivery);
      this.#enqueue(lane);
      this.#start(delivery, lane);
    }
    if (bytes > bytesPerTurn) this.#yield();
  }

  /** Applies what an attempt revealed about the endpoint. A blocked lane starts nothing, and nothing waits in it. */
  changeHealth(lane: Lane, health: EndpointHealth): void {
    if (health === lane.health) return;
    lane.health = health;
    lane.isHealthUnrecorded = true;
    this.#options.onHealthChanged(lane);
    if (!lane.isBlocked) return;
    if (lane.waiting.length > 0) this.#options.onBlocked();
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

  /** The delivery was settled, or the settlement was refused because another worker owns it. */
  settled(delivery: ClaimedDelivery, lane: Lane): void {
    lane.unsettled -= 1;
    lane.order.end(delivery);
    this.#release(delivery, lane);
    this.#enqueue(lane);
  }

  /** The next delivery of the subject gets its turn at the next fetch. */
  passTurn(lane: Lane, subject: string): void {
    this.promoter.promoteNext(lane, subject);
    this.#options.onFetchNeeded();
  }

  /**
   * Removes what has not been started from a lane: everything, or what follows a delivery in its subject. The caller
   * releases it and reports the end by `releaseEnded`.
   */
  withdrawWaiting(lane: Lane, after: ClaimedDelivery | null = null): Uuid[] {
    const isWithdrawn = (other: ClaimedDelivery) => after === null || isBefore(after, other);
    const withdrawn = lane.waiting.filter(isWithdrawn);
    if (withdrawn.length === 0) return [];
    lane.waiting.splice(0, lane.waiting.length, ...lane.waiting.filter((other) => !isWithdrawn(other)));
    for (const delivery of withdrawn) {
      this.#releasingIds.add(delivery.id);
      this.#release(delivery, lane);
    }
    lane.isBacklogged = true;
    this.#signalDue(lane);
    return withdrawn.map((delivery) => delivery.id);
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

  close(lane: Lane): void {
    lane.isReleasing = true;
    clearTimeout(lane.resumeTimer);
    this.#fetchQueue.delete(lane);
    this.#startQueue.delete(lane);
    if (this.#lanes.get(lane.endpointId) === lane) this.#lanes.delete(lane.endpointId);
  }

  /** This worker was reaped and owns nothing any more. Requests in flight end, and their outcomes are ignored. */
  loseAll(): void {
    for (const lane of this.#lanes.values()) {
      lane.isLost = true;
      lane.waiting.length = 0;
      this.close(lane);
    }
    this.#heldIds.clear();
    this.#heldBytes.clear();
    this.#sharers.clear();
    this.#notifyIdle();
  }

  /** Accepts no more deliveries or lanes. */
  stopAccepting(): void {
    this.#isAccepting = false;
    for (const lane of this.#lanes.values()) clearTimeout(lane.resumeTimer);
  }

  /** Resolves when no delivery is waiting, in flight or unsettled. */
  async whenIdle(): Promise<void> {
    if (this.#heldIds.size === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #start(delivery: ClaimedDelivery, lane: Lane): void {
    const { tenant } = lane;
    lane.inFlight += 1;
    lane.unsettled += 1;
    this.#slots.take(tenant, 1);
    void this.#options.attempt(delivery, lane).finally(() => {
      lane.inFlight -= 1;
      this.#slots.release(tenant, 1);
      lane.usedAt = performance.now();
      this.#enqueue(lane);
      this.pump();
      if (!lane.hasDue || !lane.needsFetch) return;
      this.#fetchQueue.add(lane);
      this.#options.onFetchNeeded();
    });
  }

  /** Lets publishes and responses go first. */
  #yield(): void {
    this.#isYielding = true;
    setImmediate(() => {
      this.#isYielding = false;
      this.pump();
    });
  }

  #enqueue(lane: Lane): void {
    if (lane.canStart) this.#startQueue.add(lane);
  }

  #signalDue(lane: Lane): void {
    lane.hasDue = true;
    lane.dueSignals += 1;
    this.#fetchQueue.add(lane);
  }

  /** Uses timers rather than the survey, because a rate of ten per second needs ten looks per second. */
  #resumeLater(lane: Lane): void {
    clearTimeout(lane.resumeTimer);
    if (!this.#isAccepting || lane.isReleasing) return;
    lane.resumeTimer = setTimeout(
      () => {
        if (lane.isBlocked) return this.#resumeLater(lane);
        this.#enqueue(lane);
        if (lane.hasDue) this.markDue(lane);
        this.pump();
      },
      Math.min(60_000, Math.max(1, lane.pauseMs)),
    );
  }

  #hold({ event: { payload } }: ClaimedDelivery, lane: Lane): void {
    const sharers = this.#sharers.get(payload) ?? 0;
    this.#sharers.set(payload, sharers + 1);
    if (sharers === 0) this.#heldBytes.take(lane.tenant, payload.byteLength);
  }

  #release({ id, event: { payload } }: ClaimedDelivery, lane: Lane): void {
    if (lane.isLost || !this.#heldIds.delete(id)) return;
    const others = (this.#sharers.get(payload) ?? 1) - 1;
    if (others > 0) this.#sharers.set(payload, others);
    else {
      this.#sharers.delete(payload);
      this.#heldBytes.release(lane.tenant, payload.byteLength);
    }
    this.#notifyIdle();
  }

  #notifyIdle(): void {
    if (this.#heldIds.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
