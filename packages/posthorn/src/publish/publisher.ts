// Group commit: publishes collect while the previous batch is being written, and one statement stores them all.
// Callers get their result after the commit. One insert per request had a third of the throughput.
import { setTimeout as pause } from "node:timers/promises";
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { ValidEvent } from "../event/validate.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { type Database, isConflict, isDuplicate, isLockTimeout, isUnavailable } from "../storage/database.ts";
import { existingEvents, knownKeys } from "../storage/queries/events/known-keys.ts";
import { LockWaitQueue, locksOf } from "./lock-wait-queue.ts";
import {
  bytesOf,
  firstOf,
  overdueIn,
  overload,
  type Pending,
  type PublishResult,
  rejectAll,
  resolveStored,
} from "./pending-events.ts";
import { conflictError, stoppedError, unavailableError } from "./publish-errors.ts";

export interface PublisherOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly fanOut: FanOut;
  /** A statement failed but may have taken effect. */
  readonly onLostReply: () => void;
}

/** Each blocks a connection while it waits for its lock. */
const maxLockWaiters = 2;

export class Publisher {
  readonly #options: PublisherOptions;
  #waiting: Pending[] = [];
  #waitingBytes = 0;
  #writing: readonly Pending[] = [];
  #flushing: Promise<void> | undefined;
  #stopped = false;
  #overdueTimer: NodeJS.Timeout | undefined;
  /** Events whose idempotency keys or subjects may be locked by others. */
  readonly #lockQueue = new LockWaitQueue<Pending>();
  readonly #lockWaiters = new Set<Promise<void>>();

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  publish({ event, idempotency }: ValidEvent): Promise<PublishResult> {
    if (this.#stopped) return Promise.reject(stoppedError());
    const overloaded = overload(this.waitingCount, this.waitingBytes);
    if (overloaded !== null) return Promise.reject(overloaded);
    return new Promise((resolve, reject) => {
      const key = idempotency === null ? null : { tenant: event.tenant, eventId: event.id, ...idempotency };
      this.#waiting.push({ event, key, since: performance.now(), mayBeStored: false, resolve, reject });
      this.#waitingBytes += event.payload.byteLength;
      this.#flushing ??= this.#flush();
    });
  }

  /** Publishes events that another process may have stored, or may still store, before those that are waiting. */
  publishUnlessStored(entries: readonly Pending[]): void {
    this.#waiting.unshift(...entries.map((entry) => ({ ...entry, mayBeStored: true })));
    this.#waitingBytes += bytesOf(entries);
    this.#flushing ??= this.#flush();
  }

  get waitingCount(): number {
    return this.#waiting.length + this.#lockQueue.size;
  }

  get waitingBytes(): number {
    return this.#waitingBytes + this.#lockQueue.bytes;
  }

  /** Writes what is waiting and accepts no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#flushing;
    await Promise.all(this.#lockWaiters);
    clearInterval(this.#overdueTimer);
  }

  async #flush(): Promise<void> {
    // publishes of one turn of the event loop share the first batch
    await new Promise((resolve) => setImmediate(resolve));
    this.#overdueTimer ??= setInterval(() => this.#rejectAllOverdue(), 250).unref();
    while (this.#waiting.length > 0) {
      this.#writing = await this.#fitting(this.#nextBatch());
      await this.#writeOrWait(this.#writing);
    }
    this.#writing = [];
    this.#flushing = undefined;
  }

  /**
   * Rejects in time even if a statement hangs until its connection is considered lost. The timer stops when no batch is
   * pending.
   */
  #rejectAllOverdue(): void {
    if (this.#flushing === undefined) {
      clearInterval(this.#overdueTimer);
      this.#overdueTimer = undefined;
    }
    const overdue = this.#waiting.splice(0, overdueIn(this.#waiting).length);
    this.#waitingBytes -= bytesOf(overdue);
    rejectAll([...overdueIn(this.#writing), ...overdue], unavailableError());
  }

  /** Entries that need a lock that others wait for join the wait queue instead. */
  #nextBatch(): Pending[] {
    const taken = firstOf(this.#waiting);
    this.#waiting = this.#waiting.slice(taken.length);
    this.#waitingBytes -= bytesOf(taken);
    if (this.#lockQueue.size === 0) return taken;
    const batch: Pending[] = [];
    // one by one, because a joining entry adds its own locks
    for (const entry of taken) {
      if (this.#lockQueue.mustWait(entry)) this.#waitForLock([entry]);
      else batch.push(entry);
    }
    return batch;
  }

  /** Returns the events that fit in one statement with their deliveries; the others return to the head of the queue. */
  async #fitting(batch: Pending[]): Promise<Pending[]> {
    this.#writing = batch;
    const rest = batch.slice(await this.#fit(batch));
    this.#waiting.unshift(...rest);
    this.#waitingBytes += bytesOf(rest);
    return batch.slice(0, batch.length - rest.length);
  }

  async #fit(batch: readonly Pending[]): Promise<number> {
    return await this.#options.fanOut.fit(batch.map((entry) => entry.event)).catch(() => batch.length);
  }

  async #writeOrWait(batch: readonly Pending[]): Promise<void> {
    if (batch.length === 0) return;
    const written = await this.#write(batch);
    if (written === "locked") this.#waitForLock(batch);
    else if (written !== "finished") await this.#isolate(batch, written);
  }

  /** Writes each event alone, because one event that the database rejects must not fail the others. */
  async #isolate(batch: readonly Pending[], error: Error): Promise<void> {
    if (this.#rejectIfAlone(batch, error)) return;
    for (const entry of batch) {
      if (this.#lockQueue.mustWait(entry)) this.#waitForLock([entry]);
      else await this.#writeOrWait([entry]);
    }
  }

  /** Returns true if the batch has a single event, which is rejected. */
  #rejectIfAlone(batch: readonly Pending[], error: Error): boolean {
    if (batch.length === 1) rejectAll(batch, error);
    else
      this.#options.logger.error("the database rejected a batch of events; writing them one by one", {
        error: error.message,
      });
    return batch.length === 1;
  }

  /**
   * Returns `locked` if another transaction holds a lock that one of them needs, and an error if the database rejects
   * their content.
   */
  async #write(all: readonly Pending[]): Promise<"finished" | "locked" | Error> {
    let batch = all;
    let mayBeStored = batch.some((entry) => entry.mayBeStored);
    let duplicate: Error | undefined;
    for (let failures = 0; ; failures += 1) {
      try {
        if (mayBeStored) {
          const rest = await this.#resolveExisting(batch);
          if (duplicate !== undefined && rest.length === batch.length) return duplicate;
          batch = rest;
          if (batch.length === 0) return "finished";
        }
        const result = await this.#options.fanOut.run({
          events: batch.map((entry) => entry.event),
          keys: batch.flatMap((entry) => entry.key ?? []),
          fromOutbox: false,
        });
        await this.#resolve(
          batch,
          result.refused,
          result.sequences,
          (id) => countOf(result.deliveries, id),
          result.dropped,
        );
        return "finished";
      } catch (error) {
        duplicate = undefined;
        if (isUnavailable(error)) {
          mayBeStored = true;
          this.#options.onLostReply();
        } else if (isDuplicate(error)) {
          // a statement that was considered lost was only late, or another process stored an event that it was passed
          mayBeStored = true;
          duplicate = error as Error;
          continue;
        } else if (isLockTimeout(error) && batch.some((entry) => locksOf(entry).length > 0)) {
          return "locked";
        } else if (!isConflict(error)) {
          return error as Error;
        }
        if (this.#stopped || overdueIn(batch).length > 0) {
          rejectAll(batch, unavailableError(error));
          return "finished";
        }
        await pause(Math.min(500, 20 * 2 ** Math.min(failures, 5)));
      }
    }
  }

  /**
   * Resolves events that are stored already, and returns the others. Reconciliation finds what the lost statement
   * claimed.
   */
  async #resolveExisting(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const ids = batch.map((entry) => entry.event.id);
    const existing = await existingEvents(this.#options.db, ids);
    if (existing.size === 0) return batch;
    // events with keys are stored by one statement only: it refused those that do not exist
    const isMissing = ({ event, key }: Pending) => key === null && !existing.has(event.id);
    const refused = new Set(ids.filter((id) => !existing.has(id)));
    await this.#resolve(
      batch.filter((entry) => !isMissing(entry)),
      refused,
      existing,
      () => null,
    );
    return batch.filter(isMissing);
  }

  async #resolve(
    batch: readonly Pending[],
    refused: ReadonlySet<Uuid>,
    sequences: ReadonlyMap<Uuid, number | null>,
    deliveries: (eventId: Uuid) => number | null,
    dropped?: ReadonlySet<Uuid>,
  ): Promise<void> {
    const duplicates: Pending[] = [];
    for (const entry of batch) {
      const { id } = entry.event;
      const sequence = sequences.get(id) ?? null;
      if (refused.has(id)) duplicates.push(entry);
      else resolveStored(entry, { sequence, deliveries: deliveries(id), isDropped: dropped?.has(id) });
    }
    if (duplicates.length > 0) await this.#resolveDuplicates(duplicates);
  }

  async #resolveDuplicates(duplicates: readonly Pending[]): Promise<void> {
    const known = await knownKeys(
      this.#options.db,
      duplicates.flatMap((entry) => entry.key ?? []),
    );
    const byKey = new Map(known.map((row) => [keyOf(row), row]));
    for (const entry of duplicates) {
      const { event, key, resolve, reject } = entry;
      const first = key === null ? undefined : byKey.get(keyOf(key));
      const sequence = first?.sequence ?? null;
      if (first === undefined)
        reject(
          new PosthornError("database_unavailable", "The idempotency key was just removed; publish again."),
        );
      else if (!first.digest.equals(key?.digest as Uint8Array))
        reject(conflictError(event, key?.key ?? "", first.eventId));
      // stored by this call, whose first reply was lost
      else if (first.eventId === event.id) resolveStored(entry, { sequence, deliveries: null });
      else resolve({ id: formatId("evt", first.eventId), sequence, duplicate: true, deliveries: 0 });
    }
  }

  /** Entries that need a lock wait apart and take turns, so that others do not wait with them. */
  #waitForLock(entries: readonly Pending[]): void {
    for (const entry of entries) this.#lockQueue.add(entry);
    while (this.#lockWaiters.size < maxLockWaiters && this.#lockQueue.waitingCount > 0) {
      const writer = this.#writeLockWaiters().finally(() => this.#lockWaiters.delete(writer));
      this.#lockWaiters.add(writer);
    }
  }

  async #writeLockWaiters(): Promise<void> {
    for (let turn = this.#lockQueue.next(); turn !== undefined; turn = this.#lockQueue.next()) {
      const batch = turn.isSlow ? turn.entries.slice(0, 1) : firstOf(turn.entries);
      const fitting = batch.slice(0, await this.#fit(batch));
      const written = await this.#write(fitting);
      if (written === "finished") turn.end({ finished: fitting.length, isSlow: false });
      else if (written === "locked") turn.end({ finished: this.#rejectOverdue(turn.entries), isSlow: true });
      else turn.end({ finished: this.#rejectIfAlone(fitting, written) ? 1 : 0, isSlow: true });
    }
  }

  /** Returns the number of rejected entries, from the first on. */
  #rejectOverdue(line: readonly Pending[]): number {
    const overdue = this.#stopped ? line : overdueIn(line);
    rejectAll(overdue, unavailableError());
    return overdue.length;
  }
}

/** A tenant id contains no space. */
function keyOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant} ${key}`;
}

function countOf(deliveries: ReadonlyMap<Uuid, number | null>, eventId: Uuid): number | null {
  const count = deliveries.get(eventId);
  return count === undefined ? 0 : count;
}
