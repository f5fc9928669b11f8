// Promotes the next delivery of each subject whose turn has come. Runs before each fetch, so that no row is parked
// behind a finished one.
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import {
  type FreedSubject,
  type LaneScan,
  promoteLanes,
  promoteSubjects,
} from "../storage/queries/queue/promote.ts";
import type { Lane } from "./lane.ts";

const subjectsAtOnce = 1_000;
const scansAtOnce = 50;
/** A lane may have a hundred thousand subjects; scanning this many takes about 10 ms. */
const subjectsPerScan = 500;

export class SubjectPromoter {
  readonly #lanes = new Set<Lane>();

  /** The current delivery of this subject has ended. */
  promoteNext(lane: Lane, subject: string): void {
    lane.order.freed.add(subject);
    this.#lanes.add(lane);
  }

  /** The next delivery of each subject in the lane is unknown; the database finds it. */
  recheckAll(lane: Lane): void {
    lane.order.scanAfter = "";
    this.#lanes.add(lane);
  }

  get isDue(): boolean {
    return this.#lanes.size > 0;
  }

  /**
   * Returns the lanes that it examined, and those with a promoted delivery. If a statement fails, its promotions are kept
   * for the next run.
   */
  async run(
    db: Queryable,
    workerId: number,
  ): Promise<{ readonly examined: readonly Lane[]; readonly promoted: readonly Lane[] }> {
    const batch = this.#take();
    const byId = new Map(batch.lanes.map((lane) => [lane.endpointId, lane]));
    try {
      const due = batch.freed.length > 0 ? await promoteSubjects(db, workerId, batch.freed) : [];
      const scanned =
        batch.scans.length > 0 ? await promoteLanes(db, workerId, batch.scans, subjectsPerScan) : [];
      for (const { endpointId, lastSubject, promoted } of scanned) {
        if (promoted > 0) due.push(endpointId);
        if (lastSubject !== null) this.#continueScan(byId.get(endpointId) as Lane, lastSubject);
      }
      return { examined: batch.lanes, promoted: [...new Set(due)].map((id) => byId.get(id) as Lane) };
    } catch (error) {
      this.#restore(batch, byId);
      throw error;
    } finally {
      for (const lane of batch.lanes) lane.order.isPromoting = false;
    }
  }

  #take(): { lanes: Lane[]; freed: FreedSubject[]; scans: LaneScan[] } {
    const lanes: Lane[] = [];
    const freed: FreedSubject[] = [];
    const scans: LaneScan[] = [];
    for (const lane of this.#lanes) {
      if (freed.length >= subjectsAtOnce || scans.length >= scansAtOnce) break;
      this.#lanes.delete(lane);
      if (lane.isGone) continue;
      const { endpointId, order } = lane;
      for (const subject of order.freed) freed.push({ endpointId, subject });
      if (order.scanAfter !== null) scans.push({ endpointId, after: order.scanAfter });
      order.freed.clear();
      order.scanAfter = null;
      order.isPromoting = true;
      lanes.push(lane);
    }
    return { lanes, freed, scans };
  }

  #continueScan(lane: Lane, after: string): void {
    // a scan that was requested meanwhile starts from the beginning
    lane.order.scanAfter ??= after;
    this.#lanes.add(lane);
  }

  #restore(
    batch: { freed: readonly FreedSubject[]; scans: readonly LaneScan[] },
    byId: ReadonlyMap<Uuid, Lane>,
  ): void {
    for (const { endpointId, subject } of batch.freed)
      this.promoteNext(byId.get(endpointId) as Lane, subject);
    for (const { endpointId, after } of batch.scans) this.#continueScan(byId.get(endpointId) as Lane, after);
  }
}
