// Passes turns on: notes in which subjects the next delivery may go, and tells the database. Runs in the loop that
// fetches, before each fetch, so that a row is never parked behind one that is done.
import type { Uuid } from "../model.ts";
import type { Queryable } from "../storage/database.ts";
import {
  type FreedSubject,
  type LaneWalk,
  promoteLanes,
  promoteSubjects,
} from "../storage/queries/queue/promote.ts";
import type { Lane } from "./lane.ts";

const subjectsAtOnce = 1_000;
const walksAtOnce = 50;
/** A lane may have a hundred thousand subjects; a walk of this many takes about 10 ms. */
const subjectsPerWalk = 500;

export class Promotion {
  readonly #lanes = new Set<Lane>();

  /** The delivery whose turn it was in this subject has ended. */
  free(lane: Lane, subject: string): void {
    lane.order.freed.add(subject);
    this.#lanes.add(lane);
  }

  /** Whose turn it is in the lane's subjects, only the database can tell. */
  freeAll(lane: Lane): void {
    lane.order.walkAfter = "";
    this.#lanes.add(lane);
  }

  get isDue(): boolean {
    return this.#lanes.size > 0;
  }

  /** Returns the lanes in which something is due now. What a statement that fails would have told is told again. */
  async run(db: Queryable, workerId: number): Promise<Lane[]> {
    const batch = this.#take();
    const byId = new Map(batch.lanes.map((lane) => [lane.endpointId, lane]));
    try {
      const due = batch.freed.length > 0 ? await promoteSubjects(db, workerId, batch.freed) : [];
      const walked =
        batch.walks.length > 0 ? await promoteLanes(db, workerId, batch.walks, subjectsPerWalk) : [];
      for (const { endpointId, lastSubject, promoted } of walked) {
        if (promoted > 0) due.push(endpointId);
        if (lastSubject !== null) this.#walkOn(byId.get(endpointId) as Lane, lastSubject);
      }
      return [...new Set(due)].map((id) => byId.get(id) as Lane);
    } catch (error) {
      this.#putBack(batch, byId);
      throw error;
    } finally {
      for (const lane of batch.lanes) lane.order.isPromoting = false;
    }
  }

  #take(): { lanes: Lane[]; freed: FreedSubject[]; walks: LaneWalk[] } {
    const lanes: Lane[] = [];
    const freed: FreedSubject[] = [];
    const walks: LaneWalk[] = [];
    for (const lane of this.#lanes) {
      if (freed.length >= subjectsAtOnce || walks.length >= walksAtOnce) break;
      this.#lanes.delete(lane);
      if (lane.isForgotten) continue;
      const { endpointId, order } = lane;
      for (const subject of order.freed) freed.push({ endpointId, subject });
      if (order.walkAfter !== null) walks.push({ endpointId, after: order.walkAfter });
      order.freed.clear();
      order.walkAfter = null;
      order.isPromoting = true;
      lanes.push(lane);
    }
    return { lanes, freed, walks };
  }

  #walkOn(lane: Lane, after: string): void {
    // a walk that was asked for meanwhile begins at the beginning
    lane.order.walkAfter ??= after;
    this.#lanes.add(lane);
  }

  #putBack(
    batch: { freed: readonly FreedSubject[]; walks: readonly LaneWalk[] },
    byId: ReadonlyMap<Uuid, Lane>,
  ): void {
    for (const { endpointId, subject } of batch.freed) this.free(byId.get(endpointId) as Lane, subject);
    for (const { endpointId, after } of batch.walks) this.#walkOn(byId.get(endpointId) as Lane, after);
  }
}
