// Synchronises the lanes in memory with those in the database: claims lanes that are ready, fetches their due rows,
// releases what this worker cannot send, and surveys what notifications may have missed. Each method runs its
// statements once and applies the result; the worker decides when.
import { performance } from "node:perf_hooks";
import type { ClaimedDelivery, Target, Uuid } from "../model.ts";
import type { Observer } from "../observe/observer.ts";
import type { Database } from "../storage/database.ts";
import { type ClaimedLane, claimLanes } from "../storage/queries/lanes/claim.ts";
import { type LimitedLane, markLimitedLanes } from "../storage/queries/lanes/mark-limited.ts";
import { lanesWithParked, surveyLanes } from "../storage/queries/lanes/read.ts";
import { type InFlightLimit, recordInFlightLimits } from "../storage/queries/lanes/record-limits.ts";
import { releaseLanes } from "../storage/queries/lanes/release.ts";
import { cancelQueued } from "../storage/queries/queue/cancel.ts";
import { addQueueRows } from "../storage/queries/queue/event-claims.ts";
import { type FetchedDelivery, fetch, recoverClaimed } from "../storage/queries/queue/fetch.ts";
import { releaseDeliveries } from "../storage/queries/queue/release.ts";
import { lanesToFetchFor, rowsToFetch } from "./fetch-share.ts";
import type { Hints } from "./hints.ts";
import type { Lane } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import type { Lease } from "./lease.ts";
import type { SharedLock } from "./shared-lock.ts";

export interface LaneKeeperOptions {
  readonly db: Database;
  readonly lanes: Lanes;
  readonly lease: Lease;
  readonly hints: Hints;
  readonly claims: SharedLock;
  readonly observer: Observer;
  /** Adds queue rows for deliveries that have none. */
  readonly addQueueRows: () => Promise<void>;
  /** Deliveries that were claimed but not in memory: another process may still be passing them. */
  readonly onRecovered: (ids: readonly Uuid[]) => void;
  readonly targets: { byIds(endpointIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Target | null>> };
}

const lanesPerClaim = 200;
/**
 * A worker without free slots leaves ready lanes to other workers for this long. After that it claims them itself:
 * slots are reused at once, so an unclaimed lane would wait forever. A worker whose slots were all used by slow
 * receivers for this long claims nothing, because the lane could not start here while another worker may be free.
 */
const leftToOthersMs = 1_000;
/**
 * Delay after which a lane at its own limit is marked as limited, and time after which an attempt is recorded as being
 * sent meanwhile; a shorter one is not worth a write.
 */
const limitedAfterMs = 1_000;
/** How often changed limits on attempts in flight are recorded: they are only displayed. */
const limitsRecordedMs = 5_000;
/** A single worker keeps idle lanes much longer. */
const idleAloneMs = 30_000;
const idleMs = 1_500;
const lanesPerRelease = 1_000;

export class LaneKeeper {
  readonly #options: LaneKeeperOptions;
  /** Average size of recent payloads; it keeps fetches of large events small. */
  #averageBytes = 1_024;
  readonly #yieldedAt = new Map<Uuid, number>();
  #limitsRecordedAt = Number.NEGATIVE_INFINITY;
  /** Lanes that this worker owns in the database but not in memory, at the last survey. */
  #unknownLanes: ReadonlySet<Uuid> = new Set();

  constructor(options: LaneKeeperOptions) {
    this.#options = options;
  }

  /** Claims lanes that are ready. Returns true if more may be. */
  async claimLanes(): Promise<boolean> {
    const { db, claims, lanes, lease } = this.#options;
    if (!lanes.isAccepting || lanes.isStuckFor(leftToOthersMs)) return false;
    const waitedMs = lanes.hasCapacity && lease.mayGainLanes ? 0 : leftToOthersMs;
    return await claims.shared(async () => {
      const except = this.#justYielded();
      const claimed = await claimLanes(db, lease.workerId, lanesPerClaim, { waitedMs, except });
      await this.#openLanes(claimed);
      return claimed.length === lanesPerClaim;
    });
  }

  /** Other workers have a second to claim these lanes. */
  #justYielded(): Uuid[] {
    const since = performance.now() - leftToOthersMs;
    for (const [id, at] of this.#yieldedAt) if (at < since) this.#yieldedAt.delete(id);
    return [...this.#yieldedAt.keys()];
  }

  /** Fetches due deliveries. Returns true if there is more to fetch. */
  async fetch(): Promise<boolean> {
    const { db, lanes, lease } = this.#options;
    if (!lanes.isAccepting) return false;
    if (lanes.promoter.isDue) {
      const { examined, promoted } = await lanes.promoter.run(db, lease.workerId);
      for (const lane of promoted) lanes.markDue(lane);
      for (const lane of examined) lanes.releaseIfDrained(lane);
    }
    const turn = lanes.nextToFetch(lanesToFetchFor(this.#averageBytes));
    if (turn.length === 0) return lanes.promoter.isDue;
    for (const lane of turn) lane.isFetching = true;
    try {
      await this.#options.claims.shared(() => this.#fetchFor(turn));
    } finally {
      for (const lane of turn) {
        lane.isFetching = false;
        lanes.releaseIfDrained(lane);
      }
    }
    return lanes.promoter.isDue || lanes.hasLanesToFetch;
  }

  async #fetchFor(turn: readonly Lane[]): Promise<void> {
    const { db, lanes, lease, observer } = this.#options;
    const share = { lanes: turn.length, averageBytes: this.#averageBytes };
    const wanted = turn.map((lane) => ({
      lane,
      endpointId: lane.endpointId,
      maxRows: Math.min(lane.freeCapacity, rowsToFetch(lane.target, share)),
      signals: lane.dueSignals,
    }));
    const startedAt = performance.now();
    const { deliveries, parked } = await fetch(db, lease.workerId, wanted);
    observer.statementTook("claim", startedAt);
    await this.#refreshTargets(deliveries);
    const perLane = new Map(parked);
    for (const { delivery } of deliveries) {
      this.#admit(delivery);
      perLane.set(delivery.endpointId, (perLane.get(delivery.endpointId) ?? 0) + 1);
    }
    for (const { lane, endpointId, maxRows, signals } of wanted) {
      if ((perLane.get(endpointId) ?? 0) < maxRows) lanes.markFetched(lane, signals);
    }
    // the rows revealed that a lane was paused or deleted
    if (turn.some((lane) => !lane.isOpen)) await this.releaseWaiting();
  }

  /** Compares settings, health and due rows with the database, and releases what this worker should not hold. */
  async survey(): Promise<void> {
    const { db, lanes, lease } = this.#options;
    const blocked = lanes.blockedAsRecorded();
    const surveyed = await surveyLanes(db, lease.workerId);
    const stale: Uuid[] = [];
    const unknown = new Set<Uuid>();
    const limited: LimitedLane[] = [];
    const limits: InFlightLimit[] = [];
    for (const { endpointId, targetVersion, probeAtMs, dueInMs, inFlightLimit, ...recorded } of surveyed) {
      const lane = lanes.get(endpointId);
      if (lane === undefined) {
        unknown.add(endpointId);
        continue;
      }
      if (targetVersion !== lane.target.version) stale.push(endpointId);
      if (probeAtMs !== null && blocked.get(lane) === lane.health) lanes.bringProbeForward(lane, probeAtMs);
      const isBacklogLate = dueInMs !== null && dueInMs < -limitedAfterMs;
      const { limitedBy, sending } = lane.surveyLimit(limitedAfterMs, isBacklogLate);
      if (limitedBy !== recorded.limitedBy || sending !== recorded.sending)
        limited.push({ endpointId, limitedBy, sending });
      const limit = lane.cap === lane.target.maxInFlight ? null : lane.cap;
      if (limit !== inFlightLimit) limits.push({ endpointId, limit });
      if (dueInMs === null) continue;
      if (dueInMs <= 0) lanes.markDue(lane);
      else lanes.dueIn(lane, dueInMs);
    }
    if (limited.length > 0) await markLimitedLanes(db, lease.workerId, limited);
    await this.#recordLimits(limits);
    this.#noteUnknown(unknown);
    if (stale.length > 0) await this.#reload(stale);
    const yielded = lease.takeLanesToYield();
    if (yielded > 0) lanes.yieldSome(yielded);
    await this.releaseWaiting();
    await this.#releaseIdle();
  }

  async #recordLimits(limits: readonly InFlightLimit[]): Promise<void> {
    const { db, lease } = this.#options;
    const now = performance.now();
    if (limits.length === 0 || now - this.#limitsRecordedAt < limitsRecordedMs) return;
    this.#limitsRecordedAt = now;
    await recordInFlightLimits(db, lease.workerId, limits);
  }

  /** Finds what this worker owns in the database but not in memory, after replies may have been lost. */
  async reconcile(): Promise<void> {
    const { db, claims, lanes, lease } = this.#options;
    await claims.exclusive(async () => {
      const owned = await surveyLanes(db, lease.workerId);
      const unknown = owned.filter(({ endpointId }) => lanes.get(endpointId) === undefined);
      await this.#openLanes(unknown.map(({ endpointId }) => ({ endpointId, hasParked: true })));
      await this.#options.addQueueRows();
      const claimed = await recoverClaimed(db, lease.workerId, lanes.claimedIds);
      this.#options.onRecovered(claimed.map(({ id }) => id));
      // an ordered delivery may be behind another by now; the next fetch decides that
      const isKept = ({ id, endpointId, isOrdered }: ClaimedDelivery) =>
        lanes.isAccepting && !isOrdered && !lanes.isUnconfirmed(id) && isStaying(lanes.get(endpointId));
      for (const delivery of claimed) if (isKept(delivery)) this.#admit(delivery);
      const returned = claimed.filter((delivery) => !isKept(delivery));
      const returnedIds = returned.map(({ id }) => id);
      if (returned.length > 0) await releaseDeliveries(db, lease.workerId, returnedIds);
      lanes.clearUnconfirmed();
      for (const { endpointId } of returned) {
        const lane = lanes.get(endpointId);
        if (lane !== undefined) lanes.markDue(lane);
      }
      // also promotes subjects whose turn was lost for any reason
      for (const endpointId of await lanesWithParked(db, lease.workerId)) {
        const lane = lanes.get(endpointId);
        if (lane !== undefined) lanes.promoter.recheckAll(lane);
      }
    });
  }

  /** Releases what waits in lanes that are draining or blocked. */
  async releaseWaiting(): Promise<void> {
    const { lanes } = this.#options;
    const unsent: ClaimedDelivery[] = [];
    for (const lane of lanes.all()) {
      if (lane.waiting.length > 0 && (!lane.isOpen || lane.isBlocked))
        unsent.push(...lanes.withdrawWaiting(lane));
    }
    await this.releaseDeliveries(unsent);
  }

  async releaseAllWaiting(): Promise<void> {
    const { lanes } = this.#options;
    await this.releaseDeliveries([...lanes.all()].flatMap((lane) => lanes.withdrawWaiting(lane)));
  }

  /** Releases withdrawn deliveries. If that fails, reconciliation does it. */
  async releaseDeliveries(withdrawn: readonly ClaimedDelivery[]): Promise<void> {
    const { db, lanes, lease } = this.#options;
    if (withdrawn.length === 0) return;
    const ids = withdrawn.map(({ id }) => id);
    const claimed = withdrawn.filter(({ claimBatch }) => claimBatch !== null);
    let isReleased = false;
    try {
      if (claimed.length > 0) await addQueueRows(db, lease.workerId, claimed);
      await releaseDeliveries(db, lease.workerId, ids);
      for (const delivery of claimed) delivery.claimBatch?.ended(delivery);
      isReleased = true;
    } finally {
      lanes.releaseEnded(ids, isReleased);
    }
  }

  async releaseDrained(): Promise<void> {
    await this.#release([...this.#options.lanes.all()].filter((lane) => !lane.isHolding));
  }

  async #releaseIdle(): Promise<void> {
    const { lanes, lease } = this.#options;
    const now = performance.now();
    const idleAfterMs = lease.others === 0 ? idleAloneMs : idleMs;
    const idle: Lane[] = [];
    for (const lane of lanes.all()) {
      if (lane.isHolding) continue;
      const isQuiet =
        lane.rows === "none" && now - lane.usedAt > idleAfterMs && lane.dueAt - now > idleAfterMs;
      if (!lane.isOpen || isQuiet) idle.push(lane);
      if (idle.length === lanesPerRelease) break;
    }
    await this.#release(idle);
  }

  /** If the statement fails, the lanes stay `releasing` until the next survey releases them. */
  async #release(idle: readonly Lane[]): Promise<void> {
    const { db, hints, lanes, lease } = this.#options;
    if (idle.length === 0) return;
    const yielded = idle.filter((lane) => lane.state === "yielding");
    for (const { endpointId } of yielded) this.#yieldedAt.set(endpointId, performance.now());
    for (const lane of idle) lane.beginRelease();
    const ids = idle.map((lane) => lane.endpointId);
    const released = await releaseLanes(db, lease.workerId, ids);
    if (yielded.length > 0) hints.notifyAll();
    for (const lane of idle) {
      if (lane.isGone) continue;
      if (released.has(lane.endpointId)) lanes.close(lane);
      else lanes.refuseRelease(lane);
    }
  }

  /** A lane that is missing in memory once may be in a reply on its way; if it is missing twice, the reply was lost. */
  #noteUnknown(unknown: ReadonlySet<Uuid>): void {
    for (const id of unknown) if (this.#unknownLanes.has(id)) this.#options.lease.reconcileSoon();
    this.#unknownLanes = unknown;
  }

  /** Changed settings apply to the next attempt; a paused or deleted endpoint gets none. */
  async #reload(endpointIds: readonly Uuid[]): Promise<void> {
    const { db, lanes } = this.#options;
    const targets = await this.#options.targets.byIds(endpointIds);
    for (const id of endpointIds) {
      const lane = lanes.get(id);
      if (lane !== undefined) lanes.retarget(lane, targets.get(id) ?? null);
    }
    await this.releaseWaiting();
    const deleted = endpointIds.filter((id) => targets.get(id) === null);
    if (deleted.length > 0) await cancelQueued(db, deleted);
  }

  async #openLanes(claimed: readonly ClaimedLane[]): Promise<void> {
    if (claimed.length === 0) return;
    const { db, lanes, lease } = this.#options;
    const targets = await this.#options.targets.byIds(claimed.map(({ endpointId }) => endpointId));
    const deleted: Uuid[] = [];
    for (const { endpointId, hasParked } of claimed) {
      const target = targets.get(endpointId) ?? null;
      if (target === null) deleted.push(endpointId);
      else lanes.openClaimed(target, hasParked);
    }
    // deleted after it was claimed: otherwise every survey would find it missing in memory
    if (deleted.length > 0) await releaseLanes(db, lease.workerId, deleted);
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

  #admit(delivery: ClaimedDelivery): void {
    const { lanes } = this.#options;
    const lane = lanes.get(delivery.endpointId);
    if (lane !== undefined) lanes.admit(delivery, lane);
  }
}

/** A lane that is being released may be closed with whatever is admitted to it. */
function isStaying(lane: Lane | undefined): boolean {
  return lane !== undefined && lane.state !== "releasing";
}
