// One loop on one connection writes the common case of both ends: while a statement runs, new events and finished
// attempts collect, and the next statement carries both. Everything else goes through the general statements: what is
// not common, and everything while the connection is lost or the database is behind a pooler.
// New deliveries that this worker sends at once are claimed by their events and have no queue row (`event-claims.ts`).
// After a lost reply it is unknown what is claimed and what is settled: all of them get queue rows before this loop
// writes again.
import { lowestUuidAt } from "@posthorn/wire";
import type { Settlement, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import type { Observer } from "../observe/observer.ts";
import { Loop } from "../service/loop.ts";
import type { Database, DirectConnection } from "../storage/database.ts";
import { claim, type IngestBatch, type IngestResult, ingest } from "../storage/queries/events/ingest.ts";
import { isPlain, write, writtenPlain } from "../storage/queries/events/write.ts";
import { addAllQueueRows } from "../storage/queries/queue/event-claims.ts";
import { isFirstSuccess } from "../storage/queries/queue/settle.ts";
import { type BatchClaims, EventClaims } from "./event-claims.ts";
import { type FinishedAttempt, type OnSettled, Settler } from "./settler.ts";

export interface WriteLoopOptions<Finished extends FinishedAttempt> {
  readonly db: Database;
  readonly logger: Logger;
  readonly observer: Observer;
  /** Whether dead letters are reported, so that people are notified. */
  readonly reportsDead: boolean;
  readonly onSettled: OnSettled<Finished>;
  readonly workerId: () => number;
  /** Returns the database's time. */
  readonly nowMs: () => number;
}

interface PendingIngest {
  readonly batch: IngestBatch;
  readonly claims: BatchClaims;
  readonly resolve: (result: IngestResult | Promise<IngestResult>) => void;
  readonly reject: (error: unknown) => void;
}

const largestBatch = 500;
/**
 * How long a settlement waits for the next batch of events. It saves a statement of its own; an ordered delivery does
 * not wait, because the next one of its subject waits for it.
 */
const lingerMs = 10;
/** From this many settlements on, they are written without waiting for events. */
const minBatch = 100;
const reconnectMs = 1_000;
const nothingSince: Uuid = lowestUuidAt(0);

export class WriteLoop<Finished extends FinishedAttempt> {
  readonly #options: WriteLoopOptions<Finished>;
  readonly #settler: Settler<Finished>;
  readonly #connecting: Loop;
  readonly #claims: EventClaims;
  /** A reply or a commit was lost: deliveries without a queue row may be settled, and settled ones may not be. */
  #areClaimsUnknown = false;
  /** Queue rows are being added; the loop writes nothing meanwhile. */
  #addingRows: Promise<void> | null = null;
  #connection: DirectConnection | null = null;
  #pending: PendingIngest | null = null;
  #waiting: Finished[] = [];
  /** An ordered delivery is waiting. */
  #isUrgent = false;
  #writing: Promise<void> | null = null;
  #linger: NodeJS.Timeout | undefined;

  constructor(options: WriteLoopOptions<Finished>) {
    const { logger } = options;
    this.#options = options;
    this.#claims = new EventClaims(options.nowMs);
    this.#settler = new Settler({ ...options, onSettled: (batch, refused) => this.#settled(batch, refused) });
    this.#connecting = new Loop({
      name: "connecting the write loop",
      intervalMs: reconnectMs,
      logger,
      step: () => this.#connect(),
    });
  }

  async start(): Promise<void> {
    await this.#settler.start();
    await this.#connecting.start();
  }

  /** Settlements that are still waiting are dropped, as by the settler. */
  async stop(): Promise<void> {
    await this.#connecting.stop();
    clearTimeout(this.#linger);
    await this.#writing;
    await this.#settler.stop();
    await this.#connection?.close();
  }

  /** The number of settlements that are not yet written. */
  get backlog(): number {
    return this.#waiting.length + this.#settler.backlog;
  }

  ingest(batch: IngestBatch): Promise<IngestResult> {
    const connection = this.#connection;
    const claims =
      connection === null || this.#pending !== null || !isPlain(batch)
        ? null
        : this.#claims.begin(
            batch.events,
            batch.deliveries.filter((delivery) => delivery.claim === claim.mine),
          );
    if (claims === null) return ingest(this.#options.db, batch);
    return new Promise((resolve, reject) => {
      this.#pending = { batch, claims, resolve, reject };
      if (!this.#isBusy) this.#writing = this.#write(connection as DirectConnection);
    });
  }

  settle(finished: Finished): void {
    const { settlement } = finished;
    if (this.#areClaimsUnknown && settlement.delivery.claimBatch !== null) {
      this.#waiting.push(finished);
      return;
    }
    if (this.#connection === null || !isFirstSuccess(settlement)) {
      this.#settler.add(finished);
      return;
    }
    this.#waiting.push(finished);
    this.#isUrgent ||= finished.settlement.delivery.isOrdered;
    if (this.#isBusy) return;
    if (this.#isFull) this.#writing = this.#write(this.#connection);
    else this.#writeSoon();
  }

  /** The worker's `claims_since` from now on; it is never lowered. */
  claimsSince(): Uuid {
    if (this.#areClaimsUnknown) return nothingSince;
    if (this.#claims.isOverdue) void this.addQueueRows().catch(() => {});
    return this.#claims.since();
  }

  /** A connection of this worker was lost: after a failover, the last commits may be missing. */
  connectionLost(): void {
    this.#loseReply();
  }

  /** Adds queue rows for all unfinished deliveries without one. */
  addQueueRows(): Promise<void> {
    this.#addingRows ??= this.#addQueueRows().finally(() => {
      this.#addingRows = null;
      this.#continue();
    });
    return this.#addingRows;
  }

  async #addQueueRows(): Promise<void> {
    await this.#writing;
    try {
      const before = this.#claims.afterLastSent;
      await addAllQueueRows(this.#options.db, this.#options.workerId(), before);
      this.#rowsAdded(before);
    } catch (error) {
      this.#loseReply();
      throw error;
    }
  }

  /** This worker was reaped: its deliveries were released. */
  reaped(): void {
    this.#rowsAdded(this.#claims.afterLastSent);
    if (!this.#isBusy) this.#continue();
  }

  #rowsAdded(before: Uuid): void {
    this.#claims.rowsAdded(before);
    this.#areClaimsUnknown = false;
  }

  #settled(batch: readonly Finished[], refusedIds: ReadonlySet<Uuid>): void {
    // a refused delivery keeps its claim, and gets its queue row within a second
    for (const { settlement } of batch)
      if (!refusedIds.has(settlement.delivery.id)) settlement.delivery.claimBatch?.ended(settlement.delivery);
    this.#options.onSettled(batch, refusedIds);
  }

  get #isBusy(): boolean {
    return this.#writing !== null || this.#addingRows !== null;
  }

  /** True if the settlements are written without waiting for events. */
  get #isFull(): boolean {
    return this.#isUrgent || this.#waiting.length >= minBatch;
  }

  #writeSoon(): void {
    this.#linger ??= setTimeout(() => {
      this.#linger = undefined;
      if (this.#connection !== null && !this.#isBusy) this.#writing = this.#write(this.#connection);
    }, lingerMs);
  }

  async #write(connection: DirectConnection): Promise<void> {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    do await this.#writeOnce(connection);
    while (
      this.#addingRows === null &&
      this.#connection === connection &&
      (this.#pending !== null || this.#isFull)
    );
    this.#writing = null;
    if (this.#addingRows === null) this.#continue();
  }

  #continue(): void {
    if (this.#connection === null) this.#useGeneralStatements();
    // it was connected again during the last statement
    else if (this.#pending !== null || this.#isFull) this.#writing = this.#write(this.#connection);
    else if (this.#waiting.length > 0) this.#writeSoon();
  }

  async #writeOnce(connection: DirectConnection): Promise<void> {
    const pending = this.#pending;
    this.#pending = null;
    this.#isUrgent = false;
    const batch = this.#waiting.splice(0, largestBatch);
    const workerId = pending?.batch.workerId ?? batch[0]?.workerId;
    if (workerId === undefined) return;
    // the worker was reaped and has a new id since: the general statement refuses them
    const [current, former] = splitBy(batch, (finished) => finished.workerId === workerId);
    for (const finished of former) this.#settler.add(finished);
    const startedAt = performance.now();
    try {
      const settlements = current.map(({ settlement }): Settlement => settlement);
      if (pending !== null) this.#claims.sent(pending.claims);
      const result = await write(connection, workerId, pending?.batch ?? null, settlements);
      if (pending === null) this.#options.observer.statementTook("settle", startedAt);
      else if (result.areEventsWritten) {
        pending.claims.stored();
        pending.resolve(writtenPlain);
      } else this.#useGeneralIngest(pending);
      if (current.length > 0) this.#settled(current, result.refusedIds);
    } catch (error) {
      // the connection may be lost, or one of the rows may be rejected: the general statements find out
      pending?.reject(error);
      this.#waiting.unshift(...current);
      this.#loseReply();
    }
  }

  #useGeneralIngest({ batch, claims, resolve }: PendingIngest): void {
    claims.remove();
    resolve(ingest(this.#options.db, batch));
  }

  /** Settlements of deliveries that may have no queue row wait until they have one. */
  #useGeneralStatements(): void {
    if (this.#pending !== null) this.#useGeneralIngest(this.#pending);
    this.#pending = null;
    const isHeld = ({ settlement }: Finished) =>
      this.#areClaimsUnknown && settlement.delivery.claimBatch !== null;
    const [held, others] = splitBy(this.#waiting.splice(0), isHeld);
    this.#waiting.push(...held);
    for (const finished of others) this.#settler.add(finished);
  }

  #loseReply(): void {
    this.#areClaimsUnknown = true;
    if (this.#connection !== null) this.#disconnect(this.#connection);
  }

  /** Returns false: the loop connects again after its interval. */
  async #connect(): Promise<boolean> {
    if (this.#connection !== null) return false;
    if (this.#areClaimsUnknown) await this.addQueueRows();
    const connection = await this.#options.db.connect();
    if (connection.isDirect) {
      this.#connection = connection;
      void connection.lost.then(() => this.#disconnect(connection));
    } else await connection.close();
    return false;
  }

  #disconnect(connection: DirectConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    void connection.close();
    if (!this.#isBusy) this.#useGeneralStatements();
  }
}

function splitBy<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return items.every(isFirst)
    ? [items as Item[], []]
    : [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
