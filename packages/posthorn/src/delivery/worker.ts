// One process as a worker: its lease, its lanes and the attempts it makes. A process that only ingests is a worker
// without lanes, because it writes under a worker id.
import { performance } from "node:perf_hooks";
import { formatId } from "@posthorn/wire";
import type { LaneOwner } from "../fan-out/fan-out.ts";
import type { ClaimedDelivery, DisableCause, RecordedHealth, Settlement, Target, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import type { Endpoints } from "../resources/endpoints/endpoints.ts";
import type { Targets } from "../resources/endpoints/targets.ts";
import type { Clock } from "../service/clock.ts";
import { SharedLock } from "../service/shared-lock.ts";
import { withTimeout } from "../service/with-timeout.ts";
import {
  afterAttempt,
  disableCause,
  type HealthRules,
  healthSignal,
  restoreHealth,
} from "../settle/endpoint-health.ts";
import { Settler } from "../settle/settler.ts";
import type { Database } from "../storage/database.ts";
import { ActivityRecorder } from "./activity-recorder.ts";
import { HealthRecorder } from "./health-recorder.ts";
import { Hints } from "./hints.ts";
import type { Lane } from "./lane.ts";
import { LaneKeeper } from "./lane-keeper.ts";
import { Lanes } from "./lanes.ts";
import { Lease } from "./lease.ts";

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
  readonly healthRules: HealthRules;
  /** Returns the share of time, from 0 to 1, in which the event loop was busy since the last call. */
  readonly utilisation: () => number;
  /** Makes one attempt, from request to decision. Resolves to null if it was cut off because this process stops. */
  readonly attempt: (delivery: ClaimedDelivery, target: Target) => Promise<Settlement | null>;
  /** Events may be waiting in the outbox. */
  readonly onOutboxNotified: () => void;
}

/**
 * Deliveries with an outcome that is not yet settled. At this number nothing new is started, so that a database
 * outage does not exhaust memory.
 */
const maxUnsettled = 5_000;
/** How often a draining worker looks for empty lanes. */
const drainStepMs = 200;

export class Worker implements LaneOwner {
  readonly delivers: boolean;
  readonly #claims = new SharedLock();
  readonly #hints: Hints;
  readonly #options: WorkerOptions;
  readonly #lanes: Lanes;
  readonly #lease: Lease;
  readonly #keeper: LaneKeeper;
  readonly #settler: Settler;
  readonly #recorder: HealthRecorder;
  readonly #activity: ActivityRecorder;
  readonly #disabling = new Set<Promise<void>>();

  constructor(options: WorkerOptions) {
    const { db, logger, observer, clock, leaseMs, utilisation } = options;
    this.#options = options;
    this.delivers = options.delivers;
    this.#hints = new Hints(db, logger);
    this.#settler = new Settler({ db, logger, observer });
    this.#recorder = new HealthRecorder({ db, logger, workerId: () => this.workerId });
    this.#activity = new ActivityRecorder({ db, logger, nowMs: () => clock.nowMs() });
    this.#lease = new Lease({
      db,
      clock,
      logger,
      leaseMs,
      delivers: options.delivers,
      utilisation,
      // exclusively, so that no claim made under the old id is mistaken for one of the new id
      onReaped: (reregister) =>
        this.#claims.exclusive(async () => {
          this.#lanes.loseAll();
          await reregister();
        }),
      onReconcileDue: async () => {
        if (this.delivers) await this.#keeper.reconcile();
      },
      onWorkerReaped: () => this.#keeper.lanesReady(),
      onHint: (hint) => this.#onHint(hint),
    });
    this.#lanes = new Lanes({
      concurrency: options.delivers ? options.concurrency : 0,
      attempt: (delivery, lane) => this.#attempt(delivery, lane),
      nowMs: () => clock.nowMs(),
      mayStart: () => this.#lease.isFresh && this.#settler.backlog < maxUnsettled,
      mayAcquireLanes: () => !this.#lease.isOverloaded,
      onFetchNeeded: () => this.#keeper.fetchNow(),
      onBlocked: () => this.#keeper.surveyNow(),
      onHealthChanged: (lane) => this.#recorder.note(lane),
    });
    this.#keeper = new LaneKeeper({
      db,
      logger,
      observer,
      lanes: this.#lanes,
      claims: this.#claims,
      workerId: () => this.#lease.workerId,
      otherWorkers: () => this.#lease.others,
      loadTargets: (ids) => options.targets.byIds(ids),
      isOverloaded: () => this.#lease.isOverloaded,
      onYielded: () => this.#hints.notifyAll(),
      onLostReply: () => this.reconcileSoon(),
    });
  }

  get workerId(): number {
    return this.#lease.workerId;
  }

  get isHealthy(): boolean {
    return this.#lease.isHealthy;
  }

  get inFlight(): number {
    return this.#lanes.inFlight;
  }

  async start(): Promise<void> {
    await this.#lease.start();
    await this.#settler.start();
    await this.#recorder.start();
    await this.#activity.start();
    if (this.delivers) await this.#keeper.start();
  }

  /** Starts nothing new, waits for the attempts in flight, and releases the rest. */
  async stop(graceMs: number): Promise<void> {
    this.#lanes.stopAccepting();
    await this.#keeper.stop();
    await this.#releaseAllWaiting();
    await this.#drain(performance.now() + graceMs);
    await this.#settler.stop();
    await Promise.all(this.#disabling);
    await this.#recorder.stop();
    await this.#activity.stop();
    await this.#hints.stop();
    await this.#lease.stop();
  }

  reconcileSoon(): void {
    this.#lease.reconcileSoon();
  }

  async renew(): Promise<void> {
    await this.#lease.check();
  }

  /** Does now what the loops do periodically. */
  async runNow(): Promise<void> {
    await this.#lease.check();
    await this.#keeper.runNow();
    this.#lanes.pump();
  }

  /** Resolves when no claimed delivery and no unwritten health or activity is left in memory. */
  async whenIdle(): Promise<void> {
    await this.#lanes.whenIdle();
    await Promise.all(this.#disabling);
    await this.#recorder.runNow();
    await this.#activity.runNow();
  }

  claiming<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#claims.shared(work);
  }

  reserve(target: Target): { claim: 0 | 1 | 2; isForeign: boolean } {
    return this.#lanes.reserve(target);
  }

  unreserve(endpointId: Uuid): void {
    this.#lanes.unreserve(endpointId);
  }

  gain(target: Target, health: RecordedHealth | null): void {
    this.#lanes.open(target, restoreHealth(health));
  }

  admit(delivery: ClaimedDelivery): void {
    const lane = this.#lanes.get(delivery.endpointId);
    if (lane === undefined) return;
    this.#lanes.admit(delivery, lane);
    this.#lanes.pump();
  }

  notifyDue(lanes: {
    mine: readonly Uuid[];
    others: ReadonlyMap<Uuid, number>;
    ready: readonly Uuid[];
  }): void {
    if (lanes.mine.length > 0) this.#keeper.hint(lanes.mine);
    for (const [endpointId, owner] of lanes.others) this.#hints.notifyOwner(owner, endpointId);
    if (lanes.ready.length === 0) return;
    if (this.#lanes.hasCapacity) this.#keeper.lanesReady();
    else this.#hints.notifyAll();
  }

  async reregister(workerId: number): Promise<void> {
    if (this.workerId === workerId) await this.#lease.check();
  }

  /** An endpoint's settings changed: the owner of its lane reads them now rather than at the next survey. */
  notifySettingsChanged(owner: number | null): void {
    if (owner === null) this.notifyLanesReady();
    else if (owner === this.workerId) this.#keeper.surveyNow();
    else this.#hints.notifySettingsChanged(owner);
  }

  /** A delivery of this endpoint became due. */
  notifyDueDelivery(endpointId: Uuid, owner: number | null): void {
    if (owner === null) this.notifyLanesReady();
    else if (owner === this.workerId) this.#keeper.hint([endpointId]);
    else this.#hints.notifyOwner(owner, endpointId);
  }

  notifyLanesReady(): void {
    this.#hints.notifyAll();
    this.#keeper.lanesReady();
  }

  async #attempt(delivery: ClaimedDelivery, lane: Lane): Promise<void> {
    const { workerId } = this;
    const { target } = lane;
    try {
      const settlement = await this.#options.attempt(delivery, target);
      if (settlement === null) return;
      this.#options.observer.attempted(settlement);
      // an outcome at the previous URL says nothing about the new one
      if (lane.target.url === target.url) this.#updateHealth(settlement, lane);
      const span = this.#options.observer.settling(settlement);
      this.#settler.add(settlement, workerId, (accepted) => {
        span?.end({ "posthorn.accepted": accepted });
        this.#settled(settlement, target, lane, accepted);
      });
    } catch (error) {
      // a bug that affects this delivery only: it stays claimed, and its outcome is unknown once this process has
      // ended
      this.#options.logger.error("an attempt could not be completed", {
        eventId: formatId("evt", delivery.event.id),
        deliveryId: formatId("dlv", delivery.id),
        endpointId: formatId("ep", delivery.endpointId),
        error: (error as Error).message,
      });
    }
  }

  /** An outcome affects the endpoint's health at once, not only when it is settled. */
  #updateHealth({ outcome }: Settlement, lane: Lane): void {
    const { clock, healthRules: rules } = this.#options;
    const nowMs = clock.nowMs();
    const { target, window } = lane;
    const signal = healthSignal(outcome, target.destination.interpret(outcome, target.retryOn), nowMs);
    const { maxInFlight } = target;
    const before = lane.health;
    this.#lanes.changeHealth(lane, afterAttempt(before, signal, { rules, window, maxInFlight, nowMs }));
    if (before.trips === 0 && lane.health.trips > 0) this.#logCircuitOpened(lane);
    if (signal.kind !== "failure" && signal.kind !== "throttled") return;
    if (!target.destination.isPermanent) return;
    const cause = disableCause(lane.health, nowMs, rules);
    if (cause !== null) this.#disable(lane, cause);
  }

  #logCircuitOpened({ endpointId, target, health }: Lane): void {
    this.#options.logger.warn("an endpoint's circuit opened; its deliveries are paused", {
      endpointId: formatId("ep", endpointId),
      tenant: target.tenant,
      lastError: health.lastError,
    });
  }

  #settled(settlement: Settlement, target: Target, lane: Lane, accepted: boolean): void {
    const { delivery, decision } = settlement;
    // a manual retry went first; later deliveries of the subject that are in memory already have to wait for it
    if (delivery.isOrdered && decision.kind !== "delivered") void this.#releaseLater(delivery, lane);
    this.#lanes.settled(delivery, lane);
    const isOver = !accepted || decision.kind !== "retry";
    if (delivery.isOrdered && isOver) this.#lanes.passTurn(lane, delivery.event.subject as string);
    this.#lanes.pump();
    if (!accepted) return;
    this.#options.observer.settled(settlement);
    this.#activity.note(settlement);
    if (decision.kind === "retry") this.#keeper.dueIn(lane, decision.delayMs);
    const isGone = decision.kind === "dead" && decision.disableEndpoint;
    if (isGone && lane.target.url === target.url) this.#disable(lane, "gone");
  }

  #disable(lane: Lane, cause: DisableCause): void {
    if (lane.isDisabling) return;
    lane.isDisabling = true;
    const disabling = this.#writeDisabled(lane, cause, lane.target.url).finally(() => {
      lane.isDisabling = false;
      this.#disabling.delete(disabling);
      // the lane continues with other settings, or its waiting deliveries are released
      this.#lanes.markDue(lane);
      this.#keeper.surveyNow();
    });
    this.#disabling.add(disabling);
  }

  async #writeDisabled(lane: Lane, cause: DisableCause, url: string): Promise<void> {
    const facts = { endpointId: formatId("ep", lane.endpointId), tenant: lane.tenant, cause };
    try {
      if (!(await this.#options.endpoints.disableAfter(lane.endpointId, cause, url))) return;
      lane.isPaused = true;
      if (lane.target.destination.isPermanent)
        this.#options.logger.warn("disabled an endpoint; its deliveries wait", facts);
      else this.#options.logger.info("deleted an endpoint whose receiver is gone", facts);
    } catch (error) {
      this.#options.logger.error("could not disable an endpoint", {
        ...facts,
        error: (error as Error).message,
      });
    }
  }

  #onHint(hint: { forAll: boolean; endpoints: readonly Uuid[] }): void {
    if (!this.delivers) return;
    if (!hint.forAll) {
      this.#keeper.hint(hint.endpoints);
      return;
    }
    this.#keeper.lanesReady();
    this.#options.onOutboxNotified();
  }

  /** Releases lanes one by one, so that other workers need not wait for the slowest receiver. */
  async #drain(deadline: number): Promise<void> {
    while (this.#lanes.size > 0) {
      try {
        await this.#keeper.releaseDrained();
        this.#hints.notifyAll();
      } catch (error) {
        this.#options.logger.warn("could not release lanes; they become free when this worker has stopped", {
          error: (error as Error).message,
        });
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || this.#lanes.heldIds.size === 0) return;
      await withTimeout(Math.min(leftMs, drainStepMs), this.#lanes.whenIdle());
    }
  }

  async #releaseAllWaiting(): Promise<void> {
    const ids: Uuid[] = [];
    for (const lane of this.#lanes.all()) ids.push(...this.#lanes.withdrawWaiting(lane));
    await this.#releaseDeliveries(ids);
  }

  async #releaseLater(delivery: ClaimedDelivery, lane: Lane): Promise<void> {
    const ids = this.#lanes.withdrawWaiting(lane, delivery);
    if (ids.length === 0) return;
    await this.#releaseDeliveries(ids);
    this.#lanes.markDue(lane);
  }

  async #releaseDeliveries(ids: readonly Uuid[]): Promise<void> {
    try {
      await this.#keeper.releaseDeliveries(ids);
    } catch (error) {
      this.#options.logger.warn("could not release deliveries; they are due again when the lease expires", {
        error: (error as Error).message,
      });
    }
  }
}
