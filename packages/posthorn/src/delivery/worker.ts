// One process as a worker: its lease, its lanes and the attempts it makes. It runs the effects of the lanes. A process
// that only ingests is a worker without lanes, because it writes under a worker id.
import { performance } from "node:perf_hooks";
import { BoundedMap, formatId } from "@posthorn/wire";
import type { LaneOwner, StoredEvents } from "../fan-out/fan-out.ts";
import type { Planned } from "../fan-out/plan.ts";
import type { ClaimedDelivery, DisableCause, Event, Settlement, Target, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import type { Span } from "../observe/tracing.ts";
import type { Endpoints } from "../resources/endpoints/endpoints.ts";
import type { Targets } from "../resources/endpoints/targets.ts";
import type { Clock } from "../service/clock.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import { withTimeout } from "../service/with-timeout.ts";
import { afterAttempt, disableCause, healthSignal } from "../settle/endpoint-health.ts";
import { WriteLoop } from "../settle/write-loop.ts";
import type { Database } from "../storage/database.ts";
import type { IngestBatch, IngestResult } from "../storage/queries/events/ingest.ts";
import { ActivityRecorder } from "./activity-recorder.ts";
import { applyIngested, releaseReserved, reserve } from "./claimed-on-insert.ts";
import type { DeliveriesFrame } from "./frames.ts";
import { HealthRecorder } from "./health-recorder.ts";
import { Hints } from "./hints.ts";
import type { Lane } from "./lane.ts";
import { LaneKeeper } from "./lane-keeper.ts";
import { type Effect, Lanes } from "./lanes.ts";
import { type Hint, Lease, type LeaseHolder } from "./lease.ts";
import { type PeerAddress, Peers } from "./peers.ts";
import { deliver, type Stages } from "./pipeline.ts";
import { SharedLock } from "./shared-lock.ts";

export interface WorkerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Observer;
  readonly targets: Targets;
  readonly endpoints: Pick<Endpoints, "disableAfter">;
  /** False in a process that only ingests. */
  readonly delivers: boolean;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly reports: { readonly deadLetters: boolean; readonly circuits: boolean };
  /** Returns the share of time, from 0 to 1, in which the event loop was busy since the last call. */
  readonly utilisation: () => number;
  readonly stages: Stages;
  /** A publisher committed an event in the outbox. */
  readonly onOutboxNotified: () => void;
  /** Stores events that another process passed. */
  readonly storePassed: (events: readonly Event[]) => Promise<StoredEvents>;
}

/** An attempt with an outcome that is not yet settled. */
interface Finished {
  readonly settlement: Settlement;
  readonly workerId: number;
  readonly lane: Lane;
  /** As it was when the attempt began. */
  readonly target: Target;
  readonly span: Span | null;
}

/**
 * Deliveries with an outcome that is not yet settled. At this number nothing new is started, so that a database
 * outage does not exhaust memory.
 */
const maxUnsettled = 5_000;
/** Recovered deliveries that are remembered: more than are passed in the seconds that a frame may take. */
const maxRecovered = 20_000;
/** How often lanes are surveyed while the database cannot deliver notifications, as behind a pooler. */
const unnotifiedSurveyMs = 250;
/** How often a draining worker looks for empty lanes. */
const drainStepMs = 200;

export class Worker implements LaneOwner, LeaseHolder {
  readonly delivers: boolean;
  readonly #options: WorkerOptions;
  readonly #claims = new SharedLock();
  readonly #hints: Hints;
  readonly #lanes: Lanes;
  readonly #lease: Lease;
  readonly #keeper: LaneKeeper;
  readonly #peers: Peers;
  /** Recovered deliveries. One that another process passes later is not admitted again. */
  readonly #recoveredIds = new BoundedMap<Uuid, true>(maxRecovered);
  readonly #writes: WriteLoop<Finished>;
  readonly #health: HealthRecorder;
  readonly #activity: ActivityRecorder;
  /** Woken when lanes may be ready. */
  readonly #claiming: Loop;
  /** Woken when a lane has capacity and due rows. */
  readonly #fetching: Loop;
  readonly #surveying: Loop;
  readonly #disabling = new Set<Promise<void>>();
  readonly #resumeTimers = new Map<Lane, NodeJS.Timeout>();
  #dueTimer: NodeJS.Timeout | undefined;
  #dueTimerAt = Number.POSITIVE_INFINITY;
  #onIdle: (() => void)[] = [];
  #isPumpDue = false;
  /** Nothing is sent: the mode of delivery is not `on`. */
  #isHeld = false;
  #isStopping = false;

  constructor(options: WorkerOptions) {
    const { db, logger, observer, clock, targets, delivers } = options;
    this.#options = options;
    this.delivers = delivers;
    this.#lease = new Lease({ ...options, holder: this });
    this.#peers = new Peers({
      logger,
      accept: (frame) => this.#acceptPassed(frame),
      store: options.storePassed,
      onLost: () => this.reconcileSoon(),
      onNotPassed: (owner) => this.#hints.notifyLost(owner),
      onGone: (workerId) => this.#lease.suspect(workerId),
    });
    this.#hints = new Hints(db, logger, this.#peers);
    this.#lanes = new Lanes({
      concurrency: delivers ? options.concurrency : 0,
      clock: { now: () => performance.now(), databaseMs: () => clock.nowMs() },
    });
    this.#keeper = new LaneKeeper({
      db,
      lanes: this.#lanes,
      lease: this.#lease,
      hints: this.#hints,
      claims: this.#claims,
      observer,
      targets,
      addQueueRows: () => this.#writes.addQueueRows(),
      onRecovered: (ids) => {
        for (const id of ids) this.#recoveredIds.set(id, true);
      },
    });
    const onSettled = (batch: readonly Finished[], refusedIds: ReadonlySet<Uuid>) =>
      this.#settled(batch, refusedIds);
    this.#writes = new WriteLoop({
      db,
      logger,
      observer,
      reportsDead: options.reports.deadLetters,
      onSettled,
      workerId: () => this.workerId,
      nowMs: () => clock.nowMs(),
    });
    const onRecorded = (lanes: readonly Lane[]) => {
      for (const lane of lanes) this.#lanes.releaseIfDrained(lane);
      this.#runEffects();
    };
    this.#health = new HealthRecorder({
      db,
      logger,
      lease: this.#lease,
      reportsCircuits: options.reports.circuits,
      onRecorded,
    });
    this.#activity = new ActivityRecorder({ db, logger, nowMs: () => clock.nowMs() });
    const loop = (name: string, intervalMs: number | (() => number), work: () => Promise<boolean>) =>
      new Loop({ name, intervalMs, logger, step: () => this.#step(work) });
    this.#claiming = loop("claiming lanes", POLLED_MS, () => this.#keeper.claimLanes());
    this.#fetching = loop("fetching", 1_000, () => this.#keeper.fetch());
    const surveyEveryMs = () => (this.#lease.isNotified ? 1_000 : unnotifiedSurveyMs);
    this.#surveying = loop("surveying lanes", surveyEveryMs, () => this.#survey());
  }

  get workerId(): number {
    return this.#lease.workerId;
  }

  get isHealthy(): boolean {
    return this.#lease.isHealthy;
  }

  get laneCount(): number {
    return this.#lanes.size;
  }

  get socket(): string | null {
    return this.#peers.path;
  }

  get inFlight(): number {
    return this.#lanes.inFlight;
  }

  async start(): Promise<void> {
    if (this.delivers) await this.#peers.listen();
    await this.#lease.start();
    await this.#writes.start();
    await this.#health.start();
    await this.#activity.start();
    if (!this.delivers) return;
    await Promise.all([this.#claiming.start(), this.#fetching.start(), this.#surveying.start()]);
  }

  /** Starts nothing new, waits for the attempts in flight, and releases the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#lanes.stopAccepting();
    clearTimeout(this.#dueTimer);
    for (const timer of this.#resumeTimers.values()) clearTimeout(timer);
    await Promise.all([this.#claiming.stop(), this.#fetching.stop(), this.#surveying.stop()]);
    await this.#tryRelease(() => this.#keeper.releaseAllWaiting());
    await this.#drain(performance.now() + graceMs);
    await this.#writes.stop();
    await Promise.all(this.#disabling);
    await this.#health.stop();
    await this.#activity.stop();
    await this.#hints.stop();
    await this.#lease.stop();
    await this.#peers.close();
  }

  /** Starts nothing new. Attempts in flight end, and everything else is released. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    this.#lanes.stopAccepting();
    await this.#surveying.runNow();
  }

  /** Claims lanes and sends again. */
  resume(): void {
    this.#isHeld = false;
    if (this.#isStopping) return;
    this.#lanes.acceptAgain();
    this.claimLanes();
    this.#surveying.wake();
  }

  async #survey(): Promise<boolean> {
    await this.#keeper.survey();
    if (!this.#isHeld) return false;
    await this.#keeper.releaseAllWaiting();
    await this.#keeper.releaseDrained();
    return false;
  }

  /** A claim or its reply was lost. */
  reconcileSoon(): void {
    this.#lease.reconcileSoon();
  }

  /** Renews the lease and reads the database's time now. */
  async renew(): Promise<void> {
    await this.#lease.check();
  }

  /** Does now what the loops do periodically. */
  async runNow(): Promise<void> {
    await this.#lease.check();
    await this.#surveying.runNow();
    await this.#claiming.runNow();
    await this.#fetching.runNow();
    this.#pump();
  }

  /** Resolves when no claimed delivery and no unwritten health or activity is left in memory. */
  async whenIdle(): Promise<void> {
    await this.#whenLanesIdle();
    await Promise.all(this.#disabling);
    await this.#health.runNow();
    await this.#activity.runNow();
  }

  // Ingest: see fan-out/fan-out.ts

  beginClaim(): Promise<void> {
    return this.#claims.begin();
  }

  endClaim(): void {
    this.#claims.end();
  }

  reserve(rows: readonly Planned[]): void {
    reserve(this.#lanes, rows, { mayGainLanes: this.#lease.mayGainLanes, peers: this.#peers });
  }

  ingest(batch: IngestBatch): Promise<IngestResult> {
    return this.#writes.ingest(batch);
  }

  /** Admits the stored deliveries to their lanes. A null `result`: nothing was stored. */
  apply(rows: readonly Planned[], result: IngestResult | null): void {
    if (result === null) releaseReserved(this.#lanes, rows);
    else {
      const { due, toPass } = applyIngested(this.#lanes, rows, result);
      this.#markDue(due);
      if (toPass.length > 0) this.#peers.pass(toPass);
      if (!result.isClaimedByOwners) this.#peers.noteOwners(rows, result.otherOwners);
      for (const [endpointId, owner] of result.otherOwners) this.#hints.notifyOwner(owner, endpointId);
      if (result.readyLanes.length > 0) this.#notifyReady();
    }
    this.#pumpSoon();
  }

  /** False in a process that only ingests: it stores all events itself, so that its publishing does not depend on workers. */
  get hasPeers(): boolean {
    return this.delivers && !this.#peers.isAlone;
  }

  ownerElsewhere(targets: readonly Target[]): number | null {
    let owner: number | null = null;
    for (const { endpointId } of targets) {
      if (this.#lanes.get(endpointId) !== undefined || !this.#peers.accepts(endpointId)) return null;
      const its = this.#peers.ownerOf(endpointId);
      if (its === null || (owner !== null && its !== owner)) return null;
      owner = its;
    }
    return owner;
  }

  passEvents(owner: number, events: readonly Event[]): Promise<StoredEvents | null> {
    return this.#peers.passEvents(owner, events);
  }

  owns(endpointId: Uuid): boolean {
    return this.#lanes.isAccepting && this.#lanes.get(endpointId)?.isOpen === true;
  }

  async reregister(workerId: number): Promise<void> {
    if (this.workerId === workerId) await this.#lease.check();
  }

  /** Admits deliveries that another process stored for lanes of this worker. Returns the lanes that accept none now. */
  async #acceptPassed({ workerId, deliveries, due }: DeliveriesFrame): Promise<readonly Uuid[]> {
    const refused: ClaimedDelivery[] = [];
    // reconciliation waits: it would find what is being admitted
    await this.#claims.shared(async () => {
      // reaped since: the deliveries were released
      if (workerId !== this.workerId) return;
      for (const { delivery, targetVersion } of deliveries) {
        const { id, endpointId, event } = delivery;
        if (this.#recoveredIds.get(id)) continue;
        if (this.#lanes.accepts(endpointId, event.tenant, targetVersion))
          this.#lanes.admit(delivery, this.#lanes.get(endpointId) as Lane);
        else refused.push(delivery);
      }
      this.#lanes.refuse(refused.map(({ id }) => id));
      this.#markDue(due);
      this.#pump();
    });
    if (refused.length === 0) return [];
    await this.#tryRelease(() => this.#keeper.releaseDeliveries(refused));
    const endpointIds = new Set(refused.map(({ endpointId }) => endpointId));
    this.#markDue(endpointIds);
    // a lane that was released meanwhile is ready now
    if ([...endpointIds].some((id) => this.#lanes.get(id) === undefined)) this.#notifyReady();
    return [...endpointIds];
  }

  // Notifications from this process

  /** Lanes without an owner are ready. */
  claimLanes(): void {
    this.#claiming.wake();
  }

  /** An endpoint's settings changed: the owner of its lane reads them now rather than at the next survey. */
  notifySettingsChanged(owner: number | null): void {
    if (owner === null) this.#notifyLanesReady();
    else if (owner === this.workerId) this.#surveying.wake();
    else this.#hints.notifySettingsChanged(owner);
  }

  /** A delivery of this endpoint became due. */
  notifyDueDelivery(endpointId: Uuid, owner: number | null): void {
    if (owner === null) this.#notifyLanesReady();
    else if (owner === this.workerId) this.#markDue([endpointId]);
    else this.#hints.notifyOwner(owner, endpointId);
  }

  #notifyLanesReady(): void {
    this.#hints.notifyAll();
    this.#claiming.wake();
  }

  #notifyReady(): void {
    if (this.#lanes.hasCapacity && this.#lease.mayGainLanes) this.#claiming.wake();
    else this.#hints.notifyAll();
  }

  /** Rows may have become due in lanes of this worker. */
  #markDue(endpointIds: Iterable<Uuid>): void {
    for (const id of endpointIds) {
      const lane = this.#lanes.get(id);
      if (lane === undefined) this.#surveying.wake();
      else this.#lanes.markDue(lane);
    }
    this.#runEffects();
  }

  // The lease: see LeaseHolder

  /** Exclusively, so that no claim made under the old id is mistaken for one of the new id. */
  async reaped(reregister: () => Promise<void>): Promise<void> {
    await this.#claims.exclusive(async () => {
      this.#lanes.loseAll();
      this.#writes.reaped();
      this.#pump();
      await reregister();
    });
  }

  claimsSince(): Uuid {
    return this.#writes.claimsSince();
  }

  connectionLost(): void {
    this.#writes.connectionLost();
  }

  async reconcile(): Promise<void> {
    if (!this.delivers) return;
    await this.#keeper.reconcile();
    this.#pump();
  }

  anotherWasReaped(): void {
    this.#claiming.wake();
  }

  othersSeen(others: readonly PeerAddress[]): void {
    this.#peers.update(others);
  }

  hinted({ isOutbox, forAll, isLost, endpoints }: Hint): void {
    if (!this.delivers) return;
    if (isOutbox) this.#options.onOutboxNotified();
    else if (isLost) this.reconcileSoon();
    else if (forAll) this.#claiming.wake();
    else if (endpoints.length === 0) this.#surveying.wake();
    else this.#markDue(endpoints);
  }

  // Effects of the lanes

  /** A failed statement may have taken effect: reconciliation finds its rows. */
  async #step(work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.reconcileSoon();
      throw error;
    } finally {
      this.#pump();
    }
  }

  /** Starts every attempt that may start. Called whenever that could have changed. */
  #pump(): void {
    if (!this.#isHeld && this.#lease.isFresh && this.#writes.backlog < maxUnsettled)
      for (const { delivery, lane } of this.#lanes.startNext()) void this.#attempt(delivery, lane);
    this.#runEffects();
    if (this.#lanes.isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** The next events are written before the attempts of these are started: the database works meanwhile. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  #runEffects(): void {
    for (const effect of this.#lanes.takeEffects()) this.#run(effect);
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case "fetch":
        this.#fetching.wake();
        break;
      case "survey":
        this.#surveying.wake();
        break;
      case "record health":
        this.#health.note(effect.lane);
        break;
      case "become due":
        this.#becomeDueAt(effect.at);
        break;
      case "resume":
        this.#resumeLater(effect.lane, effect.afterMs);
        break;
      case "continue":
        setImmediate(() => {
          this.#lanes.continueStarting();
          this.#pump();
        });
    }
  }

  #resumeLater(lane: Lane, afterMs: number): void {
    clearTimeout(this.#resumeTimers.get(lane));
    const timer = setTimeout(() => {
      this.#resumeTimers.delete(lane);
      this.#lanes.resume(lane);
      this.#pump();
    }, afterMs);
    this.#resumeTimers.set(lane, timer);
  }

  #becomeDueAt(at: number): void {
    if (at >= this.#dueTimerAt || !this.#lanes.isAccepting) return;
    clearTimeout(this.#dueTimer);
    this.#dueTimerAt = at;
    const afterMs = Math.min(60_000, Math.max(1, at - performance.now()));
    this.#dueTimer = setTimeout(() => {
      this.#dueTimerAt = Number.POSITIVE_INFINITY;
      this.#lanes.becomeDue();
      this.#runEffects();
    }, afterMs);
  }

  // Attempts

  async #attempt(delivery: ClaimedDelivery, lane: Lane): Promise<void> {
    const { workerId } = this;
    const { target } = lane;
    const { stages, logger, observer } = this.#options;
    try {
      const settlement = await deliver(delivery, target, stages);
      if (settlement !== null) {
        observer.attempted(settlement);
        // an outcome at the previous URL reveals nothing about the new one
        if (lane.target.url === target.url) this.#updateHealth(settlement, lane);
        const span = observer.spans?.settling(settlement) ?? null;
        this.#writes.settle({ settlement, workerId, lane, target, span });
      }
    } catch (error) {
      // a bug that affects this delivery only: it stays claimed, and its outcome is unknown once this process has
      // ended
      logger.error("an attempt could not be completed", {
        eventId: formatId("evt", delivery.event.id),
        deliveryId: formatId("dlv", delivery.id),
        endpointId: formatId("ep", delivery.endpointId),
        error: (error as Error).message,
      });
    }
    this.#lanes.attemptEnded(lane);
    this.#pump();
  }

  /** An outcome affects the endpoint's health at once, not only when it is settled. */
  #updateHealth({ outcome, outcomeClass }: Settlement, lane: Lane): void {
    const nowMs = this.#options.clock.nowMs();
    const { target, window } = lane;
    const signal = healthSignal(outcome, outcomeClass, nowMs);
    const { maxInFlight } = target;
    lane.adjustCap(signal, outcome.durationMs);
    const before = lane.health;
    this.#lanes.changeHealth(
      lane,
      afterAttempt(before, signal, { rules: target, window, maxInFlight, nowMs }),
    );
    if (before.trips === 0 && lane.health.trips > 0) this.#logCircuitOpened(lane);
    if (signal.kind !== "failure" && signal.kind !== "throttled") return;
    if (!target.destination.isPermanent) return;
    const cause = disableCause(lane.health, nowMs, target);
    if (cause !== null) this.#disable(lane, cause);
  }

  #logCircuitOpened({ endpointId, target, health }: Lane): void {
    this.#options.logger.warn("an endpoint's circuit opened; its deliveries are paused", {
      endpointId: formatId("ep", endpointId),
      tenant: target.tenant,
      lastError: health.lastError,
    });
  }

  #settled(batch: readonly Finished[], refusedIds: ReadonlySet<Uuid>): void {
    for (const finished of batch) this.#end(finished, !refusedIds.has(finished.settlement.delivery.id));
    this.#pumpSoon();
  }

  #end({ settlement, lane, target, span }: Finished, accepted: boolean): void {
    span?.end({ "posthorn.accepted": accepted });
    const { delivery, decision } = settlement;
    // a manual retry went first; later deliveries of the subject that are in memory already have to wait for it
    if (delivery.isOrdered && decision.kind !== "delivered") void this.#releaseFollowing(delivery, lane);
    this.#lanes.settled(delivery, lane, !accepted || decision.kind !== "retry");
    if (accepted) {
      this.#options.observer.settled(settlement);
      this.#activity.note(settlement);
      if (decision.kind === "retry") this.#lanes.dueIn(lane, decision.delayMs);
      const isGone = decision.kind === "dead" && decision.disableEndpoint;
      if (isGone && lane.target.url === target.url) this.#disable(lane, "gone");
    }
  }

  #disable(lane: Lane, cause: DisableCause): void {
    if (lane.state === "disabling" || lane.isGone) return;
    lane.beginDisabling();
    const disabling = this.#writeDisabled(lane, cause, lane.target.url).then((isDisabled) => {
      this.#lanes.endDisabling(lane, isDisabled);
      this.#disabling.delete(disabling);
      this.#pump();
    });
    this.#disabling.add(disabling);
  }

  async #writeDisabled(lane: Lane, cause: DisableCause, url: string): Promise<boolean> {
    const { endpoints, logger } = this.#options;
    const facts = { endpointId: formatId("ep", lane.endpointId), tenant: lane.tenant, cause };
    try {
      if (!(await endpoints.disableAfter(lane.endpointId, cause, url))) return false;
      if (lane.target.destination.isPermanent)
        logger.warn("disabled an endpoint; its deliveries wait", facts);
      else logger.info("deleted an endpoint whose receiver is gone", facts);
      return true;
    } catch (error) {
      logger.error("could not disable an endpoint", { ...facts, error: (error as Error).message });
      return false;
    }
  }

  /** Releases later deliveries of the subject that have not been started. */
  async #releaseFollowing(delivery: ClaimedDelivery, lane: Lane): Promise<void> {
    const withdrawn = this.#lanes.withdrawWaiting(lane, delivery);
    if (withdrawn.length === 0) return;
    await this.#tryRelease(() => this.#keeper.releaseDeliveries(withdrawn));
    this.#lanes.markDue(lane);
    this.#runEffects();
  }

  // Stopping

  /** Releases lanes one by one, so that other workers need not wait for the slowest receiver. */
  async #drain(deadline: number): Promise<void> {
    while (this.#lanes.size > 0) {
      await this.#tryRelease(() => this.#keeper.releaseDrained());
      this.#hints.notifyAll();
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.#lanes.isIdle) return;
      await withTimeout(Math.min(leftMs, drainStepMs), this.#whenLanesIdle());
    }
  }

  /** If the release fails, the deliveries or lanes are free when the lease expires or this worker has stopped. */
  async #tryRelease(release: () => Promise<void>): Promise<void> {
    try {
      await release();
    } catch (error) {
      this.reconcileSoon();
      this.#options.logger.warn(
        "could not release deliveries or lanes; they are free when the lease expires",
        {
          error: (error as Error).message,
        },
      );
    }
  }

  async #whenLanesIdle(): Promise<void> {
    if (this.#lanes.isIdle) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }
}
