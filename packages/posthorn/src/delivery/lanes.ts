// The lanes this worker owns, and whose turn it is. Lanes with something to send stand in one line, tenants take turns
// in it and so do the lanes of a tenant: a flooded endpoint waits behind itself and nobody else.
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
  /** Attempts in flight in this process, all endpoints together. */
  readonly concurrency: number;
  /** The database's time. */
  readonly nowMs: () => number;
  /** Carries one delivery from the request to its settlement. Resolves to the moment the endpoint's place is free. */
  readonly attempt: (delivery: ClaimedDelivery, lane: Lane) => Promise<void>;
  /** False while the lease is too old to start anything. */
  readonly mayStart: () => boolean;
  /** False while other workers have more time than this one. */
  readonly mayAcquireLanes: () => boolean;
  /** A lane has room and owed rows. */
  readonly onFetchNeeded: () => void;
  /** What waits in a lane must not be started for a while, and is to be given back. */
  readonly onBlocked: () => void;
  readonly onHealthChanged: (lane: Lane) => void;
}

/** Payloads in memory, whatever the backlog; past it new events are owed instead of born claimed. As much again is for tenants that have nothing in memory. */
const maxHeldBytes = 64 * 1024 * 1024;
/** Payloads that are made into requests and signed before others have a turn: some ten milliseconds of it. */
const bytesPerTurn = 4 * 1024 * 1024;

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<Uuid, Lane>();
  readonly #heldIds = new Set<Uuid>();
  /** Withdrawn and on their way back: for the database this worker may still hold them. */
  readonly #releasingIds = new Set<Uuid>();
  /** Of these giving back has failed, and may yet be carried out: they are not taken into memory again. */
  readonly #unconfirmedIds = new Set<Uuid>();
  /** Lanes with owed rows, in the order in which they are fetched for. */
  readonly #fetchQueue = new FairQueue<Lane>();
  /** Lanes that may start an attempt. */
  readonly #startQueue = new FairQueue<Lane>();
  readonly #slots: TenantShares;
  readonly #heldBytes = new TenantShares(maxHeldBytes, maxHeldBytes);
  /** Deliveries by the payload they share, which is in memory once: a topic's content may go to thousands. */
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

  /** What the database says this worker holds, and rightly so or not for long. */
  get claimedIds(): Uuid[] {
    return [...this.#heldIds, ...this.#releasingIds];
  }

  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** There is a place to send from, so that lanes are taken as soon as they are ready. */
  get hasCapacity(): boolean {
    return (
      this.#isAccepting && !this.#slots.isFull && !this.#heldBytes.isFull && this.#options.mayAcquireLanes()
    );
  }

  /** How a new delivery of this target is to be born. What is promised here is kept or returned by `admit`. */
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

  /** The endpoint's settings changed. Null: it was deleted. What waits in a paused lane is given back by the keeper. */
  retarget(lane: Lane, target: Target | null): void {
    const wasPaused = lane.isPaused;
    const isAnew = target !== null && (wasPaused || target.url !== lane.target.url);
    if (lane.target.ordering === "fifo" || target?.ordering === "fifo") {
      // subjects that were held may have been let go of
      this.promoter.recheckAll(lane);
      this.#options.onFetchNeeded();
    }
    if (target !== null) lane.target = target;
    lane.isPaused = target?.isActive !== true;
    // enabled again, or led elsewhere: what was known of it is what the change left in the database
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

  /** Rows are owed in the database; they are fetched when there is room. */
  markDue(lane: Lane): void {
    this.#signalDue(lane);
    this.#options.onFetchNeeded();
  }

  /** The fetch that began at the given sign brought all that was due. */
  markFetched(lane: Lane, signalsBefore: number): void {
    if (lane.dueSignals !== signalsBefore) return;
    lane.hasDue = false;
    lane.isBacklogged = false;
    this.#fetchQueue.delete(lane);
  }

  /** Somebody may want a fetch; asking costs nobody their place in the line. */
  get hasLanesToFetch(): boolean {
    return this.#fetchQueue.size > 0;
  }

  /** The next lanes to fetch for, which then go to the back of the line. */
  nextToFetch(limit: number): Lane[] {
    const turn: Lane[] = [];
    while (turn.length < limit) {
      const lane = this.#fetchQueue.shift((tenant) => this.#heldBytes.mayTake(tenant));
      if (lane === undefined) break;
      // one that is full is hungry again when an attempt of it ends
      if (lane.isBlocked) this.#resumeLater(lane);
      else if (lane.needsFetch) turn.push(lane);
    }
    for (const lane of turn) this.#fetchQueue.add(lane);
    return turn;
  }

  /** Takes a claimed delivery into memory; it will be sent when its lane's turn comes. */
  admit(delivery: ClaimedDelivery, lane: Lane): void {
    if (this.#heldIds.has(delivery.id)) return;
    this.#heldIds.add(delivery.id);
    this.#hold(delivery, lane);
    lane.order.lineUp(delivery, lane.waiting);
    lane.usedAt = performance.now();
    if (lane.isBlocked) this.#options.onBlocked();
    else this.#enqueue(lane);
  }

  /** Starts what may be started. Called whenever something could have become possible. */
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

  /** An attempt told something about the endpoint. Nothing is started in a blocked lane, and nothing waits in it. */
  changeHealth(lane: Lane, health: EndpointHealth): void {
    if (health === lane.health) return;
    lane.health = health;
    lane.isHealthUnrecorded = true;
    this.#options.onHealthChanged(lane);
    if (!lane.isBlocked) return;
    if (lane.waiting.length > 0) this.#options.onBlocked();
    this.#resumeLater(lane);
  }

  /** What the database knows of lanes whose circuit is open. What is not written down yet is newer than that. */
  blockedAsRecorded(): ReadonlyMap<Lane, EndpointHealth> {
    const blocked = [...this.#lanes.values()].filter((lane) => lane.isBlocked && !lane.isHealthUnrecorded);
    return new Map(blocked.map((lane) => [lane, lane.health]));
  }

  /** A person brought the probe of an open circuit forward. */
  bringProbeForward(lane: Lane, probeAtMs: number): void {
    if (probeAtMs < (lane.health.probeAtMs ?? 0)) this.changeHealth(lane, { ...lane.health, probeAtMs });
  }

  /** After it was written down, or given up because it is somebody else's by now. */
  settled(delivery: ClaimedDelivery, lane: Lane): void {
    lane.unsettled -= 1;
    lane.order.end(delivery);
    this.#release(delivery, lane);
    this.#enqueue(lane);
  }

  /** The next of the subject gets its turn at the next fetch. */
  passTurn(lane: Lane, subject: string): void {
    this.promoter.promoteNext(lane, subject);
    this.#options.onFetchNeeded();
  }

  /**
   * Takes what has not been started out of a lane: all of it, or what comes after a delivery. Whoever does this gives it
   * back and says when that has ended, well or not, by `releaseEnded`.
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

  /** Stock was taken: none is left in the database. */
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

  /** This worker was buried: nothing here is its own any more. Requests in the air end by themselves, unheard. */
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

  /** Nothing new is taken from here on. */
  stopAccepting(): void {
    this.#isAccepting = false;
    for (const lane of this.#lanes.values()) clearTimeout(lane.resumeTimer);
  }

  /** Resolves when no attempt is in flight and none is unsettled. */
  async quiet(): Promise<void> {
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

  /** Publishes, answers and whatever else waits for this process come first. */
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

  /** Timers, and not the survey, because a rate of ten a second wants to be looked at ten times a second. */
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
