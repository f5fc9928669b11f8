// Synchronises the lanes in memory with those in the database: acquires lanes that are ready, fetches their due rows,
// and once a second surveys what notifications may have missed.
import { performance } from "node:perf_hooks";
import type { ClaimedDelivery, Target, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import { Loop } from "../service/loop.ts";
import type { SharedLock } from "../service/shared-lock.ts";
import { restoreHealth } from "../settle/endpoint-health.ts";
import { type AcquiredLane, acquireLanes } from "../storage/queries/lanes/acquire.ts";
import { markLimitedLanes } from "../storage/queries/lanes/mark-limited.ts";
import { lanesWithParked } from "../storage/queries/lanes/parked.ts";
import { releaseLanes } from "../storage/queries/lanes/release.ts";
import { type SurveyedLane, surveyLanes } from "../storage/queries/lanes/survey.ts";
import { cancelQueued } from "../storage/queries/queue/cancel.ts";
import { type FetchedDelivery, fetch } from "../storage/queries/queue/fetch.ts";
import { recoverClaimed } from "../storage/queries/queue/recover.ts";
import { releaseDeliveries } from "../storage/queries/queue/release.ts";
import { lanesToFetchFor, rowsToFetch } from "./fetch-share.ts";
import type { Lane } from "./lane.ts";
import { LaneReleaser, type LaneReleaserOptions } from "./lane-releaser.ts";

export interface LaneKeeperOptions extends Omit<LaneReleaserOptions, "claiming"> {
  readonly claims: SharedLock;
  readonly logger: Logger;
  readonly observer: Observer;
  readonly loadTargets: (endpointIds: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Target | null>>;
  /** A statement failed but may have taken effect. */
  readonly onLostReply: () => void;
}

const lanesPerAcquire = 200;
/**
 * A worker without free slots leaves ready lanes to other workers for this long. After that it acquires them itself:
 * slots are reused at once, so a lane left outside would wait forever.
 */
const leftAloneMs = 1_000;
/** A shorter delay is not worth a write. */
const heldAfterMs = 5_000;

export class LaneKeeper {
  readonly #options: LaneKeeperOptions;
  readonly #acquiring: Loop;
  readonly #fetching: Loop;
  readonly #surveying: Loop;
  readonly #releaser: LaneReleaser;
  #dueTimer: NodeJS.Timeout | undefined;
  #dueTimerAt = Number.POSITIVE_INFINITY;
  /** Average size of recent payloads; it keeps fetches of large events small. */
  #averageBytes = 1_024;
  /** Lanes that this worker owns in the database but not in memory, at the last survey. */
  #unknownLanes: ReadonlySet<Uuid> = new Set();

  constructor(options: LaneKeeperOptions) {
    this.#options = options;
    const { logger } = options;
    this.#releaser = new LaneReleaser({ ...options, claiming: (work) => this.#claiming(work) });
    this.#acquiring = new Loop({
      name: "acquiring lanes",
      intervalMs: 500,
      logger,
      step: () => this.#acquire(),
    });
    this.#fetching = new Loop({ name: "fetching", intervalMs: 1_000, logger, step: () => this.#fetch() });
    this.#surveying = new Loop({
      name: "surveying lanes",
      intervalMs: 1_000,
      logger,
      step: () => this.#survey(),
    });
  }

  async start(): Promise<void> {
    await Promise.all([this.#acquiring.start(), this.#fetching.start(), this.#surveying.start()]);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#dueTimer);
    await Promise.all([this.#acquiring.stop(), this.#fetching.stop(), this.#surveying.stop()]);
  }

  fetchNow(): void {
    this.#fetching.wake();
  }

  lanesReady(): void {
    this.#acquiring.wake();
  }

  surveyNow(): void {
    this.#surveying.wake();
  }

  /** Rows may have become due in lanes of this worker. */
  hint(endpointIds: readonly Uuid[]): void {
    if (endpointIds.length === 0) this.#surveying.wake();
    for (const id of endpointIds) if (!this.#markDue(id)) this.#surveying.wake();
  }

  /** A retry of this lane becomes due after the delay. */
  dueIn(lane: Lane, delayMs: number): void {
    const at = performance.now() + delayMs;
    if (at < lane.dueAt) lane.dueAt = at;
    this.#armTimer(lane.dueAt);
  }

  /** Releases deliveries that were withdrawn from lanes and not started. */
  async releaseDeliveries(withdrawn: readonly Uuid[]): Promise<void> {
    await this.#releaser.releaseDeliveries(withdrawn);
  }

  /** Releases the empty lanes of a draining worker before its last attempt has ended. */
  async releaseDrained(): Promise<void> {
    await this.#releaser.releaseDrained();
  }

  /** Does now what the loops do periodically. */
  async runNow(): Promise<void> {
    await this.#surveying.runNow();
    await this.#acquiring.runNow();
    await this.#fetching.runNow();
  }

  /** Finds what this worker owns in the database but not in memory, after replies may have been lost. */
  async reconcile(): Promise<void> {
    const { db, claims, lanes, workerId } = this.#options;
    await claims.exclusive(async () => {
      const owned = await surveyLanes(db, workerId());
      const unknown = owned.filter(({ endpointId }) => lanes.get(endpointId) === undefined);
      await this.#openLanes(unknown.map(({ endpointId }) => ({ endpointId, hasParked: true })));
      const claimed = await recoverClaimed(db, workerId(), lanes.claimedIds);
      // an ordered delivery may be behind another by now; the next fetch decides that
      const isKept = ({ id, endpointId, isOrdered }: ClaimedDelivery) =>
        lanes.isAccepting && !isOrdered && !lanes.isUnconfirmed(id) && lanes.get(endpointId) !== undefined;
      for (const delivery of claimed) if (isKept(delivery)) this.#admit(delivery);
      const returned = claimed.filter((delivery) => !isKept(delivery));
      if (returned.length > 0)
        await releaseDeliveries(
          db,
          workerId(),
          returned.map(({ id }) => id),
        );
      lanes.clearUnconfirmed();
      for (const { endpointId } of returned) this.#markDue(endpointId);
      // also promotes subjects whose turn was lost for any reason
      for (const endpointId of await lanesWithParked(db, workerId())) this.#recheckAll(endpointId);
    });
    lanes.pump();
  }

  async #acquire(): Promise<boolean> {
    const { db, claims, lanes, workerId } = this.#options;
    if (!lanes.isAccepting) return false;
    const waitedMs = lanes.hasCapacity ? 0 : leftAloneMs;
    const taken = await this.#claiming(() =>
      claims.shared(async () => {
        const acquired = await acquireLanes(db, workerId(), lanesPerAcquire, waitedMs);
        await this.#openLanes(acquired);
        return acquired.length;
      }),
    );
    return taken === lanesPerAcquire;
  }

  async #fetch(): Promise<boolean> {
    const { db, claims, lanes, observer, workerId } = this.#options;
    if (lanes.promoter.isDue) {
      for (const lane of await lanes.promoter.run(db, workerId())) lanes.markDue(lane);
    }
    const averageBytes = this.#averageBytes;
    const lanesToFetch = lanes.nextToFetch(lanesToFetchFor(averageBytes));
    if (lanesToFetch.length === 0) return lanes.promoter.isDue;
    const turns = lanesToFetch.map((lane) => ({
      lane,
      endpointId: lane.endpointId,
      room: Math.min(
        lane.freeCapacity,
        rowsToFetch(lane.target, { lanes: lanesToFetch.length, averageBytes }),
      ),
      signals: lane.dueSignals,
    }));
    for (const lane of lanesToFetch) lane.isFetching = true;
    try {
      await this.#claiming(() =>
        claims.shared(async () => {
          const startedAt = performance.now();
          const { deliveries, parked } = await fetch(db, workerId(), turns);
          observer.metrics.statementTook("claim", performance.now() - startedAt);
          await this.#refreshTargets(deliveries);
          const perLane = new Map(parked);
          for (const { delivery } of deliveries) {
            this.#admit(delivery);
            perLane.set(delivery.endpointId, (perLane.get(delivery.endpointId) ?? 0) + 1);
          }
          for (const { lane, endpointId, room, signals } of turns) {
            if ((perLane.get(endpointId) ?? 0) < room) lanes.markFetched(lane, signals);
          }
          // the rows revealed that a lane was paused or deleted
          if (lanesToFetch.some((lane) => lane.isClosing)) await this.#releaser.releaseWaiting();
        }),
      );
    } finally {
      for (const lane of lanesToFetch) lane.isFetching = false;
    }
    lanes.pump();
    return lanes.promoter.isDue || lanes.hasLanesToFetch;
  }

  async #survey(): Promise<boolean> {
    const { db, lanes, workerId } = this.#options;
    const blocked = lanes.blockedAsRecorded();
    const surveyed = await surveyLanes(db, workerId());
    const stale: Uuid[] = [];
    const unknown = new Set<Uuid>();
    const held: Uuid[] = [];
    const free: Uuid[] = [];
    for (const row of surveyed) {
      const lane = lanes.get(row.endpointId);
      if (lane === undefined) {
        unknown.add(row.endpointId);
        continue;
      }
      if (row.targetVersion !== lane.target.version) stale.push(row.endpointId);
      if (row.probeAtMs !== null && blocked.get(lane) === lane.health)
        lanes.bringProbeForward(lane, row.probeAtMs);
      const isHeld = row.dueInMs !== null && row.dueInMs < -heldAfterMs && lane.isAtLimit;
      if (isHeld !== row.isHeld) (isHeld ? held : free).push(row.endpointId);
      this.#noteDue(lane, row);
    }
    if (held.length + free.length > 0) await markLimitedLanes(db, workerId(), { held, free });
    this.#noteUnknown(unknown);
    if (stale.length > 0) await this.#reload(stale);
    this.#releaser.yieldSome();
    await this.#releaser.releaseWaiting();
    await this.#releaser.releaseIdle();
    lanes.pump();
    return false;
  }

  /** A lane that is missing once may come with a reply that is on its way; missing twice, the reply was lost. */
  #noteUnknown(unknown: ReadonlySet<Uuid>): void {
    for (const id of unknown) if (this.#unknownLanes.has(id)) this.#options.onLostReply();
    this.#unknownLanes = unknown;
  }

  #noteDue(lane: Lane, { dueInMs }: SurveyedLane): void {
    if (dueInMs === null) return;
    if (dueInMs <= 0) this.#options.lanes.markDue(lane);
    else this.dueIn(lane, dueInMs);
  }

  /** Changed settings apply to the next attempt; a paused or deleted endpoint gets none. */
  async #reload(endpointIds: readonly Uuid[]): Promise<void> {
    const { db, lanes, loadTargets } = this.#options;
    const targets = await loadTargets(endpointIds);
    for (const id of endpointIds) {
      const lane = lanes.get(id);
      if (lane !== undefined) lanes.retarget(lane, targets.get(id) ?? null);
    }
    await this.#releaser.releaseWaiting();
    const deleted = endpointIds.filter((id) => targets.get(id) === null);
    if (deleted.length > 0) await cancelQueued(db, deleted);
  }

  async #openLanes(acquired: readonly AcquiredLane[]): Promise<void> {
    if (acquired.length === 0) return;
    const { db, lanes, loadTargets, workerId } = this.#options;
    const targets = await loadTargets(acquired.map(({ endpointId }) => endpointId));
    const deleted: Uuid[] = [];
    for (const { endpointId, hasParked } of acquired) {
      const target = targets.get(endpointId);
      if (target === null || target === undefined) {
        deleted.push(endpointId);
        continue;
      }
      const lane = lanes.open(target, restoreHealth(target.health));
      lane.isBacklogged = true;
      if (hasParked) lanes.promoter.recheckAll(lane);
      lanes.markDue(lane);
    }
    // deleted after it was acquired: otherwise every survey would find it missing in memory
    if (deleted.length > 0) await releaseLanes(db, workerId(), deleted);
  }

  async #refreshTargets(fetched: readonly FetchedDelivery[]): Promise<void> {
    const stale = new Set<Uuid>();
    let bytes = 0;
    for (const { delivery, targetVersion } of fetched) {
      bytes += delivery.event.payload.byteLength;
      const lane = this.#options.lanes.get(delivery.endpointId);
      if (lane !== undefined && lane.target.version < targetVersion) stale.add(delivery.endpointId);
    }
    if (fetched.length > 0) this.#averageBytes = Math.max(1_024, bytes / fetched.length);
    if (stale.size > 0) await this.#reload([...stale]);
  }

  /** Returns false if this worker does not own the lane. */
  #markDue(endpointId: Uuid): boolean {
    const { lanes } = this.#options;
    const lane = lanes.get(endpointId);
    if (lane !== undefined) lanes.markDue(lane);
    return lane !== undefined;
  }

  #recheckAll(endpointId: Uuid): void {
    const { lanes } = this.#options;
    const lane = lanes.get(endpointId);
    if (lane !== undefined) lanes.promoter.recheckAll(lane);
  }

  #admit(delivery: ClaimedDelivery): void {
    const lane = this.#options.lanes.get(delivery.endpointId);
    if (lane !== undefined) this.#options.lanes.admit(delivery, lane);
  }

  #armTimer(at: number): void {
    if (at >= this.#dueTimerAt) return;
    clearTimeout(this.#dueTimer);
    this.#dueTimerAt = at;
    this.#dueTimer = setTimeout(() => this.#wakeDue(), Math.min(60_000, Math.max(1, at - performance.now())));
  }

  #wakeDue(): void {
    const { lanes } = this.#options;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const lane of lanes.all()) {
      if (lane.dueAt <= now) {
        lane.dueAt = Number.POSITIVE_INFINITY;
        lanes.markDue(lane);
      } else if (lane.dueAt < next) next = lane.dueAt;
    }
    this.#dueTimerAt = Number.POSITIVE_INFINITY;
    if (next < Number.POSITIVE_INFINITY) this.#armTimer(next);
  }

  /** A failed claim may have taken effect: reconciliation finds its rows. */
  async #claiming<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#options.onLostReply();
      throw error;
    }
  }
}
