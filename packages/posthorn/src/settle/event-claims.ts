// The deliveries of this worker that only their events claim, by the batch that stored them (migration 0012). They have
// no queue row: if this worker dies, they are found by reading its events from `claims_since` on.
//
//   begin ─► unsent ──stored──► stored ──each delivery ended──► (removed)
//              │   └─nothing was stored─► (removed)    │
//              └─────── reply lost ─► unknown ─────────┴─ all claims are queued ─► (removed)
import { lowestUuidAt, uuidTimeMs } from "@posthorn/wire";
import type { ClaimBatch, ClaimedDelivery, Event, Uuid } from "../model.ts";

type Claimable = Pick<ClaimedDelivery, "claimBatch">;

/** How far `claims_since` stays behind the time, and how long a delivery may go without a queue row. */
const lagMs = 1_000;

export class EventClaims {
  readonly #nowMs: () => number;
  readonly #batches = new Set<StoredClaims>();
  /** The latest `claims_since` that may be in the database. */
  #reportedSince: Uuid = lowestUuidAt(0);
  #lastBatch: { readonly firstId: Uuid; readonly beganMs: number } | undefined;

  /** `nowMs` is the database's time. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns null if the events are too old to claim deliveries: reaping might not find the claims. */
  begin(events: readonly Event[], claimed: readonly Claimable[]): StoredClaims | null {
    if (events.length === 0) return null;
    const batch = new StoredClaims(events, claimed, this.#batches);
    if (batch.firstId < this.#reportedSince) return null;
    this.#batches.add(batch);
    this.#lastBatch = { firstId: batch.firstId, beganMs: this.#nowMs() };
    return batch;
  }

  /** Returns the new `claims_since`: before the events of all batches, also of those that are about to be written. */
  since(): Uuid {
    const nowMs = this.#nowMs();
    let since = lowestUuidAt(Math.max(0, Math.floor(nowMs - lagMs)));
    for (const { firstId } of this.#batches) if (firstId < since) since = firstId;
    // events that wait longer than the lag may still be on their way to the next batch
    if (this.#lastBatch !== undefined && nowMs - this.#lastBatch.beganMs < lagMs)
      if (this.#lastBatch.firstId < since) since = this.#lastBatch.firstId;
    if (since > this.#reportedSince) this.#reportedSince = since;
    return since;
  }

  /** True if a delivery has been without a queue row for too long. */
  get isOverdue(): boolean {
    const nowMs = this.#nowMs();
    for (const { firstId, isSent } of this.#batches)
      if (isSent && nowMs - uuidTimeMs(firstId) > lagMs) return true;
    return false;
  }

  /** An id after the events of all batches that were sent to the database. */
  get end(): Uuid {
    let lastMs = -1;
    for (const { lastId, isSent } of this.#batches) if (isSent) lastMs = Math.max(lastMs, uuidTimeMs(lastId));
    return lastMs === -1 ? this.#reportedSince : lowestUuidAt(lastMs + 1);
  }

  /** All deliveries that events before `end` claim have a queue row now, or belong to nobody because this worker was reaped. */
  queuedBefore(end: Uuid): void {
    if (end > this.#reportedSince) this.#reportedSince = end;
    for (const batch of this.#batches) if (batch.isSent) batch.queued();
  }
}

export class StoredClaims implements ClaimBatch {
  readonly firstId: Uuid;
  readonly lastId: Uuid;
  /** The statement that stores it may have reached the database. */
  isSent = false;
  readonly #claimed: readonly Claimable[];
  readonly #batches: Set<StoredClaims>;
  #unfinished: number;

  constructor(events: readonly Event[], claimed: readonly Claimable[], batches: Set<StoredClaims>) {
    let [firstId, lastId] = [events[0]?.id as Uuid, events[0]?.id as Uuid];
    for (const { id } of events) {
      if (id < firstId) firstId = id;
      if (id > lastId) lastId = id;
    }
    this.firstId = firstId;
    this.lastId = lastId;
    this.#claimed = claimed;
    this.#unfinished = claimed.length;
    this.#batches = batches;
  }

  stored(): void {
    for (const delivery of this.#claimed) delivery.claimBatch = this;
    if (this.#unfinished === 0) this.remove();
  }

  /** Nothing was stored. */
  remove(): void {
    this.#batches.delete(this);
  }

  ended(delivery: Claimable): void {
    delivery.claimBatch = null;
    this.#unfinished -= 1;
    if (this.#unfinished === 0) this.remove();
  }

  queued(): void {
    for (const delivery of this.#claimed) if (delivery.claimBatch === this) delivery.claimBatch = null;
    this.remove();
  }
}
