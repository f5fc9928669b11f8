// The lanes this worker owns, and whose turn it is. Lanes with something to send stand in one line and each takes one
// turn at a time, so a flooded endpoint waits behind itself and nobody else.
import { performance } from "node:perf_hooks";
import type { ClaimedDelivery, Target, Uuid } from "../model.ts";
import { claim } from "../storage/queries/events/ingest.ts";
import { Lane } from "./lane.ts";
import { Promotion } from "./promotion.ts";
import { isBefore } from "./subject-order.ts";

export interface LanesOptions {
  /** Attempts in flight in this process, all endpoints together. */
  readonly concurrency: number;
  /** Carries one delivery from the request to its settlement. Resolves to the moment the endpoint's place is free. */
  readonly attempt: (delivery: ClaimedDelivery, lane: Lane) => Promise<void>;
  /** False while the lease is too old to start anything. */
  readonly mayStart: () => boolean;
  /** A lane has room and owed rows. */
  readonly onHungry: () => void;
}

/** Payloads in memory, whatever the backlog; past it new events are owed instead of born claimed. */
const maxHeldBytes = 64 * 1024 * 1024;

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<Uuid, Lane>();
  readonly #heldIds = new Set<Uuid>();
  /** Lanes with owed rows, in the order in which they are fetched for. */
  readonly #hungry = new Set<Lane>();
  readonly promotion = new Promotion();
  #line: Lane[] = [];
  #inFlight = 0;
  #heldBytes = 0;
  #isOpen = true;
  #onQuiet: (() => void)[] = [];

  constructor(options: LanesOptions) {
    this.#options = options;
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
    return this.#inFlight;
  }

  get heldIds(): ReadonlySet<Uuid> {
    return this.#heldIds;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** More lanes are taken only while there is a place to send from. */
  get hasCapacity(): boolean {
    return this.#isOpen && this.#inFlight < this.#options.concurrency && this.#heldBytes < maxHeldBytes;
  }

  /** How a new delivery of this target is to be born. What is promised here is kept or returned by `admit`. */
  reserve(target: Target): { claim: 0 | 1 | 2; isForeign: boolean } {
    const lane = this.#lanes.get(target.endpointId);
    if (lane === undefined || lane.isReleasing) {
      return { claim: target.isActive && this.hasCapacity ? claim.ifGained : claim.none, isForeign: true };
    }
    if (target.version > lane.target.version) this.retarget(lane, target);
    lane.usedAt = performance.now();
    if (lane.isPaused) return { claim: claim.none, isForeign: true };
    if (!this.#isOpen || lane.isBacklogged || lane.room <= 0 || this.#heldBytes >= maxHeldBytes) {
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
    if (lane.target.ordering === "fifo" || target?.ordering === "fifo") {
      // subjects that were held may have been let go of
      this.promotion.freeAll(lane);
      this.#options.onHungry();
    }
    if (target !== null) lane.target = target;
    lane.isPaused = target?.isActive !== true;
    if (wasPaused && !lane.isPaused) this.markOwed(lane);
  }

  unreserve(endpointId: Uuid): void {
    const lane = this.#lanes.get(endpointId);
    if (lane !== undefined) lane.reserved -= 1;
  }

  open(target: Target): Lane {
    const lane = new Lane(target, performance.now());
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

  /** The next lanes to fetch for, which then go to the back of the line. */
  nextHungry(limit: number): Lane[] {
    const turn: Lane[] = [];
    if (this.#heldBytes >= maxHeldBytes) return turn;
    for (const lane of this.#hungry) {
      if (turn.length === limit) break;
      if (lane.isClosing) this.#hungry.delete(lane);
      else if (lane.target.isActive && lane.waiting.length < lane.target.maxInFlight && lane.room > 0)
        turn.push(lane);
    }
    for (const lane of turn) {
      this.#hungry.delete(lane);
      this.#hungry.add(lane);
    }
    return turn;
  }

  /** Takes a claimed delivery into memory; it will be sent when its lane's turn comes. */
  admit(delivery: ClaimedDelivery, lane: Lane): void {
    if (this.#heldIds.has(delivery.id)) return;
    this.#heldIds.add(delivery.id);
    this.#heldBytes += delivery.event.payload.byteLength;
    lane.order.lineUp(delivery, lane.waiting);
    lane.usedAt = performance.now();
    this.#lineUp(lane);
  }

  /** Starts what may be started. Called whenever something could have become possible. */
  pump(): void {
    if (!this.#options.mayStart()) return;
    while (this.#inFlight < this.#options.concurrency) {
      const lane = this.#line.shift();
      if (lane === undefined) return;
      lane.inLine = false;
      if (!lane.mayStart) continue;
      const delivery = lane.takeNext();
      lane.order.begin(delivery);
      this.#lineUp(lane);
      this.#start(delivery, lane);
    }
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

  /** Takes what has not been started out of a lane, to be given back: all of it, or what comes after a delivery. */
  withdrawWaiting(lane: Lane, after: ClaimedDelivery | null = null): Uuid[] {
    const isWithdrawn = (other: ClaimedDelivery) => after === null || isBefore(after, other);
    const withdrawn = lane.waiting.filter(isWithdrawn);
    if (withdrawn.length === 0) return [];
    lane.waiting.splice(0, lane.waiting.length, ...lane.waiting.filter((other) => !isWithdrawn(other)));
    for (const delivery of withdrawn) this.#letGo(delivery, lane);
    lane.isBacklogged = true;
    this.#signOwed(lane);
    return withdrawn.map((delivery) => delivery.id);
  }

  close(lane: Lane): void {
    lane.isReleasing = true;
    this.#hungry.delete(lane);
    if (this.#lanes.get(lane.endpointId) === lane) this.#lanes.delete(lane.endpointId);
  }

  /** This worker was buried: nothing here is its own any more. Requests in the air end by themselves, unheard. */
  forgetAll(): void {
    for (const lane of this.#lanes.values()) {
      lane.isForgotten = true;
      lane.waiting.length = 0;
      this.close(lane);
    }
    this.#line = [];
    this.#heldIds.clear();
    this.#heldBytes = 0;
    this.#announceQuiet();
  }

  /** Nothing new is taken from here on. */
  shut(): void {
    this.#isOpen = false;
  }

  /** Resolves when no attempt is in flight and none is unsettled. */
  async quiet(): Promise<void> {
    if (this.#heldIds.size === 0) return;
    await new Promise<void>((resolve) => this.#onQuiet.push(resolve));
  }

  #start(delivery: ClaimedDelivery, lane: Lane): void {
    lane.inFlight += 1;
    lane.unsettled += 1;
    this.#inFlight += 1;
    void this.#options.attempt(delivery, lane).finally(() => {
      lane.inFlight -= 1;
      this.#inFlight -= 1;
      lane.usedAt = performance.now();
      this.#lineUp(lane);
      if (lane.hasOwed && lane.waiting.length < lane.target.maxInFlight) this.#options.onHungry();
      this.pump();
    });
  }

  #lineUp(lane: Lane): void {
    if (lane.inLine || !lane.mayStart) return;
    lane.inLine = true;
    this.#line.push(lane);
  }

  #signOwed(lane: Lane): void {
    lane.hasOwed = true;
    lane.owedSigns += 1;
    this.#hungry.add(lane);
  }

  #letGo(delivery: ClaimedDelivery, lane: Lane): void {
    if (lane.isForgotten || !this.#heldIds.delete(delivery.id)) return;
    this.#heldBytes -= delivery.event.payload.byteLength;
    this.#announceQuiet();
  }

  #announceQuiet(): void {
    if (this.#heldIds.size === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
  }
}
