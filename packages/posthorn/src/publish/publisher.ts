// Group commit: publishes collect while the previous batch is being written, and one statement stores them all.
// Callers get their result after the commit. One insert per request had a third of the throughput.
import { setTimeout as pause } from "node:timers/promises";
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { ValidEvent } from "../event/validate.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import type { Event, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { type Database, isConflict, isDuplicate, isLockTimeout, isUnavailable } from "../storage/database.ts";
import { existingEvents, knownKeys } from "../storage/queries/events/known-keys.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";
import { LockWaitQueue, locksOf } from "./lock-wait-queue.ts";
import { conflictError, stoppedError, unavailableError } from "./publish-errors.ts";

export interface PublishResult {
  readonly id: string;
  /** The event's sequence in its subject; null without a subject. */
  readonly sequence: number | null;
  /** The idempotency key was known: `id` is the first event's, and nothing was created. */
  readonly duplicate: boolean;
  /** Deliveries this call created; null if they are created later, after your transaction commits. */
  readonly deliveries: number | null;
}

export interface PublisherOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly fanOut: FanOut;
  /** A statement failed but may have taken effect. */
  readonly onLostReply: () => void;
}

interface Pending {
  readonly event: Event;
  readonly key: IdempotencyKey | null;
  readonly since: number;
  readonly resolve: (result: PublishResult) => void;
  readonly reject: (error: Error) => void;
}

const maxBatchEvents = 500;
const maxBatchBytes = 4 * 1024 * 1024;
/** After a longer outage the publish is rejected; the caller may publish again with the same key. */
const maxWaitMs = 5_000;
const maxWaiting = 20_000;
/** Each blocks a connection while it waits for its lock. */
const maxLockWaiters = 2;
const maxWaitingBytes = 64 * 1024 * 1024;

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
    const bytes = this.#waitingBytes + this.#lockQueue.bytes;
    if (this.#waiting.length + this.#lockQueue.size >= maxWaiting || bytes >= maxWaitingBytes) {
      return Promise.reject(
        new PosthornError(
          "overloaded",
          "Too many publishes are waiting for the database; try again in a second.",
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const key = idempotency === null ? null : { tenant: event.tenant, eventId: event.id, ...idempotency };
      const entry: Pending = { event, key, since: performance.now(), resolve, reject };
      this.#waiting.push(entry);
      this.#waitingBytes += event.payload.byteLength;
      this.#flushing ??= this.#flush();
    });
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
    for (const { event } of overdue) this.#waitingBytes -= event.payload.byteLength;
    rejectAll([...overdueIn(this.#writing), ...overdue], unavailableError());
  }

  /** Entries that need a lock that others wait for join the wait queue instead. */
  #nextBatch(): Pending[] {
    const taken = firstOf(this.#waiting);
    this.#waiting = this.#waiting.slice(taken.length);
    for (const { event } of taken) this.#waitingBytes -= event.payload.byteLength;
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
    for (const { event } of rest) this.#waitingBytes += event.payload.byteLength;
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
  async #write(batch: readonly Pending[]): Promise<"finished" | "locked" | Error> {
    let mayBeCommitted = false;
    for (let failures = 0; ; failures += 1) {
      try {
        if (mayBeCommitted && (await this.#resolveIfCommitted(batch))) return "finished";
        const result = await this.#options.fanOut.run({
          events: batch.map((entry) => entry.event),
          keys: batch.flatMap((entry) => entry.key ?? []),
          fromOutbox: false,
        });
        await this.#resolve(batch, result.refused, result.sequences, (id) => countOf(result.deliveries, id));
        return "finished";
      } catch (error) {
        // a statement that was considered lost was only late: its events exist now
        if (isUnavailable(error) || (mayBeCommitted && isDuplicate(error))) {
          mayBeCommitted = true;
          this.#options.onLostReply();
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

  /** After a lost reply either all of the batch exists or none. Reconciliation finds what it claimed. */
  async #resolveIfCommitted(batch: readonly Pending[]): Promise<boolean> {
    const existing = await existingEvents(
      this.#options.db,
      batch.map((entry) => entry.event.id),
    );
    if (existing.size === 0) return false;
    const refused = new Set(batch.map((entry) => entry.event.id).filter((id) => !existing.has(id)));
    await this.#resolve(batch, refused, existing, () => null);
    return true;
  }

  async #resolve(
    batch: readonly Pending[],
    refused: ReadonlySet<Uuid>,
    sequences: ReadonlyMap<Uuid, number | null>,
    deliveries: (eventId: Uuid) => number | null,
  ): Promise<void> {
    const duplicates: Pending[] = [];
    for (const entry of batch) {
      const { id } = entry.event;
      const sequence = sequences.get(id) ?? null;
      if (refused.has(id)) duplicates.push(entry);
      else entry.resolve({ id: formatId("evt", id), sequence, duplicate: false, deliveries: deliveries(id) });
    }
    if (duplicates.length > 0) await this.#resolveDuplicates(duplicates);
  }

  async #resolveDuplicates(duplicates: readonly Pending[]): Promise<void> {
    const known = await knownKeys(
      this.#options.db,
      duplicates.flatMap((entry) => entry.key ?? []),
    );
    const byKey = new Map(known.map((row) => [keyOf(row), row]));
    for (const { event, key, resolve, reject } of duplicates) {
      const first = key === null ? undefined : byKey.get(keyOf(key));
      const sequence = first?.sequence ?? null;
      if (first === undefined)
        reject(
          new PosthornError("database_unavailable", "The idempotency key was just removed; publish again."),
        );
      else if (!first.digest.equals(key?.digest as Uint8Array))
        reject(conflictError(event, key?.key ?? "", first.eventId));
      // stored by this call, whose first reply was lost
      else if (first.eventId === event.id)
        resolve({ id: formatId("evt", event.id), sequence, duplicate: false, deliveries: null });
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

/** The publishers of a process. Events with keys or subjects may have to wait for locks; others never wait with them. */
export class Publishers {
  readonly #plain: Publisher;
  readonly #locking: Publisher;

  constructor(options: PublisherOptions) {
    this.#plain = new Publisher(options);
    this.#locking = new Publisher(options);
  }

  publish(event: ValidEvent): Promise<PublishResult> {
    const takesLocks = event.idempotency !== null || event.event.subject !== null;
    return (takesLocks ? this.#locking : this.#plain).publish(event);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#plain.stop(), this.#locking.stop()]);
  }
}

/** Returns the entries, from the first on, that have waited too long. */
function overdueIn(entries: readonly Pending[]): readonly Pending[] {
  const firstInTime = entries.findIndex(({ since }) => performance.now() - since < maxWaitMs);
  return firstInTime === -1 ? entries : entries.slice(0, firstInTime);
}

/** A tenant id contains no space. */
function keyOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant} ${key}`;
}

/** Returns as many entries, from the first on, as one statement takes. */
function firstOf(entries: readonly Pending[]): Pending[] {
  let bytes = 0;
  let size = 0;
  while (size < entries.length && size < maxBatchEvents && bytes < maxBatchBytes) {
    bytes += (entries[size] as Pending).event.payload.byteLength;
    size += 1;
  }
  return entries.slice(0, size);
}

function countOf(deliveries: ReadonlyMap<Uuid, number | null>, eventId: Uuid): number | null {
  const count = deliveries.get(eventId);
  return count === undefined ? 0 : count;
}

function rejectAll(batch: readonly Pending[], error: Error): void {
  for (const entry of batch) entry.reject(error);
}
