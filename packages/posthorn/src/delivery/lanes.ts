// The lanes this worker owns, and whose turn it is. Lanes with something to send stand in one line, tenants take turns
// in it and so do the lanes of a tenant: a flooded endpoint waits behind itself and nobody else.
import { performance } from "node:perf_hooks";
import type { ClaimedDelivery, EndpointHealth, Target, Uuid } from "../model.ts";
import { FairQueue } from "../service/fair-queue.ts";
import { TenantShares } from "../service/tenant-shares.ts";
import { recalled } from "../settle/endpoint-health.ts";
import { claim } from "../storage/queries/events/ingest.ts";
import { Lane } from "./lane.ts";
import { Promotion } from "./promotion.ts";
import { isBefore } from "./subject-order.ts";

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
  readonly mayTakeLanes: () => boolean;
  /** A lane has room and owed rows. */
  readonly onHungry: () => void;
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
  readonly #departingIds = new Set<Uuid>();
  /** Of these giving back has failed, and may yet be carried out: they are not taken into memory again. */
  readonly #strandedIds = new Set<Uuid>();
  /** Lanes with owed rows, in the order in which they are fetched for. */
  readonly #hungry = new FairQueue<Lane>();
  /** Lanes that may start an attempt. */
  readonly #line = new FairQueue<Lane>();
  readonly #places: TenantShares;
  readonly #heldBytes = new TenantShares(maxHeldBytes, maxHeldBytes);
  /** Deliveries by the payload they share, which is in memory once: a topic's content may go to thousands. */
  readonly #sharers = new Map<Uint8Array, number>();
  readonly promotion = new Promotion();
  #isOpen = true;
  #isResting = false;
  #onQuiet: (() => void)[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#places = new TenantShares(options.concurrency);
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
    return this.#places.total;
  }

  get heldIds(): ReadonlySet<Uuid> {
    return this.#heldIds;
  }

  /** What the database says this worker holds, and rightly so or not for long. */
  get knownIds(): Uuid[] {
    return [...this.#heldIds, ...this.#departingIds];
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** There is a place to send from, so that lanes are taken as soon as they are ready. */
  get hasCapacity(): boolean {
    return this.#isOpen && !this.#places.isFull && !this.#heldBytes.isFull && this.#options.mayTakeLanes();
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
    if (!this.#isOpen || !lane.takesNewcomers || !this.#heldBytes.mayTake(target.tenant)) {
      lane.isBacklogged = true;
      this.#signOwed(lane);
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
      this.promotion.freeAll(lane);
      this.#options.onHungry();
    }
    if (target !== null) lane.target = target;
    lane.isPaused = target?.isActive !== true;
    // enabled again, or led elsewhere: what was known of it is what the change left in the database
    if (isAnew && !lane.isPaused) {
      this.changeHealth(lane, recalled(target.health));
      this.markOwed(lane);
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
  markOwed(lane: Lane): void {
    this.#signOwed(lane);
    this.#options.onHungry();
  }

  /** The fetch that began at the given sign brought all that was due. */
  markFetched(lane: Lane, signsBefore: number): void {
    if (lane.owedSigns !== signsBefore) return;
    lane.hasOwed = false;
    lane.isBacklogged = false;
    this.#hungry.delete(lane);
  }

  /** Somebody may want a fetch; asking costs nobody their place in the line. */
  get hasHungry(): boolean {
    return this.#hungry.size > 0;
  }

  /** The next lanes to fetch for, which then go to the back of the line. */
  nextHungry(limit: number): Lane[] {
    const turn: Lane[] = [];
    while (turn.length < limit) {
      const lane = this.#hungry.shift((tenant) => this.#heldBytes.mayTake(tenant));
      if (lane === undefined) break;
      // one that is full is hungry again when an attempt of it ends
      if (lane.isBlocked) this.#resumeLater(lane);
      else if (lane.hasAppetite) turn.push(lane);
    }
    for (const lane of turn) this.#hungry.add(lane);
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
    else this.#lineUp(lane);
  }

  /** Starts what may be started. Called whenever something could have become possible. */
  pump(): void {
    if (this.#isResting || !this.#options.mayStart()) return;
    let bytes = 0;
    while (!this.#places.isFull && bytes <= bytesPerTurn) {
      const lane = this.#line.shift((tenant) => this.#places.mayTake(tenant));
      if (lane === undefined) return;
      if (!lane.hasTurn) continue;
      if (!lane.takeToken()) {
        this.#resumeLater(lane);
        continue;
      }
      const delivery = lane.takeNext();
      bytes += delivery.event.payload.byteLength;
      lane.order.begin(delivery);
      this.#lineUp(lane);
      this.#start(delivery, lane);
    }
    if (bytes > bytesPerTurn) this.#rest();
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
  hastenProbe(lane: Lane, probeAtMs: number): void {
    if (probeAtMs < (lane.health.probeAtMs ?? 0)) this.changeHealth(lane, { ...lane.health, probeAtMs });
  }

  /** After it was written down, or given up because it is somebody else's by now. */
  settled(delivery: ClaimedDelivery, lane: Lane): void {
    lane.unsettled -= 1;
    lane.order.end(delivery);
    this.#letGo(delivery, lane);
    this.#lineUp(lane);
  }

  /** The next of the subject gets its turn at the next fetch. */
  passTurn(lane: Lane, subject: string): void {
    this.promotion.free(lane, subject);
    this.#options.onHungry();
  }

  /**
   * Takes what has not been started out of a lane: all of it, or what comes after a delivery. Whoever does this gives it
   * back and says when that has ended, well or not, by `departed`.
   */
  withdrawWaiting(lane: Lane, after: ClaimedDelivery | null = null): Uuid[] {
    const isWithdrawn = (other: ClaimedDelivery) => after === null || isBefore(after, other);
    const withdrawn = lane.waiting.filter(isWithdrawn);
    if (withdrawn.length === 0) return [];
    lane.waiting.splice(0, lane.waiting.length, ...lane.waiting.filter((other) => !isWithdrawn(other)));
    for (const delivery of withdrawn) {
      this.#departingIds.add(delivery.id);
      this.#letGo(delivery, lane);
    }
    lane.isBacklogged = true;
    this.#signOwed(lane);
    return withdrawn.map((delivery) => delivery.id);
  }

  departed(ids: readonly Uuid[], isGivenBack: boolean): void {
    for (const id of ids) {
      this.#departingIds.delete(id);
      if (!isGivenBack) this.#strandedIds.add(id);
    }
  }

  isStranded(id: Uuid): boolean {
    return this.#strandedIds.has(id);
  }

  /** Stock was taken: none is left in the database. */
  forgetStranded(): void {
    this.#strandedIds.clear();
  }

  close(lane: Lane): void {
    lane.isReleasing = true;
    clearTimeout(lane.resumeTimer);
    this.#hungry.delete(lane);
    this.#line.delete(lane);
    if (this.#lanes.get(lane.endpointId) === lane) this.#lanes.delete(lane.endpointId);
  }

  /** This worker was buried: nothing here is its own any more. Requests in the air end by themselves, unheard. */
  forgetAll(): void {
    for (const lane of this.#lanes.values()) {
      lane.isForgotten = true;
      lane.waiting.length = 0;
      this.close(lane);
    }
    this.#heldIds.clear();
    this.#heldBytes.clear();
    this.#sharers.clear();
    this.#announceQuiet();
  }

  /** Nothing new is taken from here on. */
  shut(): void {
    this.#isOpen = false;
    for (const lane of this.#lanes.values()) clearTimeout(lane.resumeTimer);
  }

  /** Resolves when no attempt is in flight and none is unsettled. */
  async quiet(): Promise<void> {
    if (this.#heldIds.size === 0) return;
    await new Promise<void>((resolve) => this.#onQuiet.push(resolve));
  }

  #start(delivery: ClaimedDelivery, lane: Lane): void {
    const { tenant } = lane;
    lane.inFlight += 1;
    lane.unsettled += 1;
    this.#places.take(tenant, 1);
    void this.#options.attempt(delivery, lane).finally(() => {
      lane.inFlight -= 1;
      this.#places.release(tenant, 1);
      lane.usedAt = performance.now();
      this.#lineUp(lane);
      this.pump();
      if (!lane.hasOwed || !lane.hasAppetite) return;
      this.#hungry.add(lane);
      this.#options.onHungry();
    });
  }

  /** Publishes, answers and whatever else waits for this process come first. */
  #rest(): void {
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      this.pump();
    });
  }

  #lineUp(lane: Lane): void {
    if (lane.hasTurn) this.#line.add(lane);
  }

  #signOwed(lane: Lane): void {
    lane.hasOwed = true;
    lane.owedSigns += 1;
    this.#hungry.add(lane);
  }

  /** Timers, and not the survey, because a rate of ten a second wants to be looked at ten times a second. */
  #resumeLater(lane: Lane): void {
    clearTimeout(lane.resumeTimer);
    if (!this.#isOpen || lane.isReleasing) return;
    lane.resumeTimer = setTimeout(
      () => {
        if (lane.isBlocked) return this.#resumeLater(lane);
        this.#lineUp(lane);
        if (lane.hasOwed) this.markOwed(lane);
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

  #letGo({ id, event: { payload } }: ClaimedDelivery, lane: Lane): void {
    if (lane.isForgotten || !this.#heldIds.delete(id)) return;
    const others = (this.#sharers.get(payload) ?? 1) - 1;
    if (others > 0) this.#sharers.set(payload, others);
    else {
      this.#sharers.delete(payload);
      this.#heldBytes.release(lane.tenant, payload.byteLength);
    }
    this.#announceQuiet();
  }

  #announceQuiet(): void {
    if (this.#heldIds.size === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
  }
}
