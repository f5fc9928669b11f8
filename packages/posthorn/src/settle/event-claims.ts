// The deliveries of this worker without a queue row, which their events claim, by the batch that stored them. If this
// worker dies, they are found by reading its events from `claims_since` on.
//
//   begin ─► unsent ──stored──► stored ──each delivery ended──► (removed)
//              │   └─nothing was stored─► (removed)    │
//              └─────── reply lost ─► unknown ─────────┴─ all get queue rows ─► (removed)
import { lowestUuidAt, uuidTimeMs } from "@posthorn/wire";
import type { ClaimBatch, ClaimedDelivery, Event, Uuid } from "../model.ts";

type Claimable = Pick<ClaimedDelivery, "claimBatch">;

/** How far `claims_since` lags behind the current time, and how long a delivery may go without a queue row. */
const lagMs = 1_000;

export class EventClaims {
  readonly #nowMs: () => number;
  readonly #batches = new Set<BatchClaims>();
  /** The latest `claims_since` that may be in the database. */
  #reportedSince: Uuid = lowestUuidAt(0);
  #lastBatch: { readonly firstId: Uuid; readonly beganMs: number } | undefined;
  #lastSentMs = -1;

  /** `nowMs` is the database's time. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns null if the events are too old to claim deliveries: reaping might not find the claims. */
  begin(events: readonly Event[], claimed: readonly Claimable[]): BatchClaims | null {
    if (events.length === 0) return null;
    const batch = new BatchClaims(events, claimed, this.#batches);
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

  /** The statement that stores the batch may reach the database from now on. */
  sent(batch: BatchClaims): void {
    batch.isSent = true;
    this.#lastSentMs = Math.max(this.#lastSentMs, uuidTimeMs(batch.lastId));
  }

  /** An id after the events of all batches that were ever sent: a failover may have lost what happened to them. */
  get afterLastSent(): Uuid {
    const afterLast = lowestUuidAt(this.#lastSentMs + 1);
    return afterLast > this.#reportedSince ? afterLast : this.#reportedSince;
  }

  /** All unfinished deliveries of events before this id have queue rows, or were released when this worker was reaped. */
  rowsAdded(before: Uuid): void {
    if (before > this.#reportedSince) this.#reportedSince = before;
    for (const batch of this.#batches) if (batch.isSent) batch.rowsAdded();
  }
}

export class BatchClaims implements ClaimBatch {
  readonly firstId: Uuid;
  readonly lastId: Uuid;
  /** The statement that stores it may have reached the database. */
  isSent = false;
  /** Those that are not finished; a finished one is not kept in memory until the whole batch is. */
  readonly #claimed: Set<Claimable>;
  readonly #batches: Set<BatchClaims>;

  constructor(events: readonly Event[], claimed: readonly Claimable[], batches: Set<BatchClaims>) {
    let [firstId, lastId] = [events[0]?.id as Uuid, events[0]?.id as Uuid];
    for (const { id } of events) {
      if (id < firstId) firstId = id;
      if (id > lastId) lastId = id;
    }
    this.firstId = firstId;
    this.lastId = lastId;
    this.#claimed = new Set(claimed);
    this.#batches = batches;
  }

  stored(): void {
    for (const delivery of this.#claimed) delivery.claimBatch = this;
    if (this.#claimed.size === 0) this.remove();
  }

  /** Nothing was stored. */
  remove(): void {
    this.#batches.delete(this);
  }

  ended(delivery: Claimable): void {
    delivery.claimBatch = null;
    this.#claimed.delete(delivery);
    if (this.#claimed.size === 0) this.remove();
  }

  rowsAdded(): void {
    for (const delivery of this.#claimed) delivery.claimBatch = null;
    this.remove();
  }
}
