// Builds batches from waiting events when there are enough events or bytes, or the first has waited long enough. Any worker
// may build one, under the lane's lock; from then on a batch is a delivery like any other, with a fixed body.
//
//   waiting events ──(count, bytes or delay reached)──► one event + one queue row ──► sent like every delivery
//
// This is one transaction: an event either waits or is in a batch.
import { performance } from "node:perf_hooks";
import { uuidv7 } from "@posthorn/wire";
import { deliveryIdOf } from "../fan-out/delivery-id.ts";
import type { Collected } from "../fan-out/plan.ts";
import type { BatchEncoding } from "../formats/format.ts";
import { batchEncodingOf } from "../formats/formats.ts";
import { BATCH_TYPE, type BatchSettings, type Event, type Target, type Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import { Semaphore } from "../service/semaphore.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { type BatchDefaults, pendingBatches } from "../storage/queries/batches/read.ts";
import { type Member, pendingEvents, writeBatch } from "../storage/queries/batches/write.ts";
import { lockLane } from "../storage/queries/lanes/lock.ts";
import { cancelQueued } from "../storage/queries/queue/cancel.ts";
import { enqueuePendingEvents } from "./enqueue-pending-events.ts";

export interface BatcherOptions {
  readonly db: Database;
  readonly logger: Logger;
  readonly loadTargets: (endpointIds: readonly Uuid[]) => Promise<ReadonlyMap<Uuid, Target | null>>;
  readonly defaults: BatchDefaults;
  /** Returns the database's time. */
  readonly nowMs: () => number;
  readonly onQueued: (endpointId: Uuid, owner: number | null) => void;
}

/** Each holds a connection, and up to twice the bytes of a batch. */
const batchesAtOnce = 2;

/** May be started more than once. */
export class Batcher extends Loop {
  readonly #options: BatcherOptions;
  readonly #semaphore = new Semaphore(batchesAtOnce);
  /** The events waiting per endpoint, as far as this process knows. */
  readonly #known = new Map<Uuid, { events: number; bytes: number }>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: BatcherOptions) {
    const { logger } = options;
    super({ name: "building batches", intervalMs: POLLED_MS, logger, step: () => this.#build() });
    this.#options = options;
  }

  override async stop(): Promise<void> {
    await super.stop();
    // the last step may have set it
    clearTimeout(this.#timer);
  }

  /** Counts events until a batch is full: a query per event would cost more than a batch saves. */
  note(collected: readonly Collected[]): void {
    for (const { endpointId, bytes, target } of collected) {
      const known = this.#known.get(endpointId) ?? { events: 0, bytes: 1 };
      known.events += 1;
      known.bytes += bytes + 1;
      this.#known.set(endpointId, known);
      const { maxEvents, maxBytes, maxDelayMs } = target.batch;
      if (known.events >= maxEvents || known.bytes >= maxBytes) this.wake();
      else this.#wakeIn(maxDelayMs);
    }
  }

  async #build(): Promise<boolean> {
    const { db, defaults } = this.#options;
    const waiting = await pendingBatches(db, defaults, null);
    this.#known.clear();
    const due = waiting.filter(({ dueInMs }) => dueInMs <= 0);
    for (const { endpointId, events, bytes, dueInMs } of waiting) {
      if (dueInMs <= 0) continue;
      this.#known.set(endpointId, { events, bytes });
      this.#wakeIn(dueInMs);
    }
    // an error of one endpoint is reported by the loop after the others are done
    const made = await Promise.allSettled(
      due.map(({ endpointId }) => this.#semaphore.run(() => this.#make(endpointId))),
    );
    const failed = made.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return made.some((one) => one.status === "fulfilled" && one.value);
  }

  /** Returns true if anything was enqueued: there may be more for that endpoint. */
  async #make(endpointId: Uuid): Promise<boolean> {
    const { db, defaults, loadTargets, onQueued } = this.#options;
    const target = (await loadTargets([endpointId])).get(endpointId) ?? null;
    const encoding = target === null ? null : batchEncodingOf(target.format);
    const owner = await db.transaction(async (tx) => {
      const lane = await lockLane(tx, endpointId);
      // under the lane's lock: another worker may have built the batch meanwhile
      const [pending] = await pendingBatches(tx, defaults, endpointId);
      if (pending === undefined || pending.dueInMs > 0) return undefined;
      const written =
        target !== null && encoding !== null
          ? await this.#writeBatch(tx, target, encoding)
          : (await enqueuePendingEvents(tx, endpointId, lane?.isOrdered ?? false)) > 0;
      return written ? (lane?.owner ?? null) : undefined;
    });
    if (owner === undefined) return false;
    if (target === null) await cancelQueued(db, [endpointId]);
    else onQueued(endpointId, owner);
    return true;
  }

  async #writeBatch(tx: Queryable, target: Target, encoding: BatchEncoding): Promise<boolean> {
    const { endpointId, batch, tenant } = target;
    const limit = { events: batch.maxEvents, bytes: batch.maxBytes };
    const waiting = await pendingEvents(tx, endpointId, limit);
    if (waiting.length === 0) return false;
    const members = waiting.map((member) => ({
      ...member,
      body: encoding.encodeMember(member.event, target.formatContext),
    }));
    const chosen = inOrder(members.slice(0, fitting(members, encoding.framingBytes, batch)));
    const id = uuidv7(this.#options.nowMs());
    const body = encoding.join(chosen.map((member) => member.body));
    await writeBatch(tx, {
      endpointId,
      event: batchEvent(id, tenant, body),
      deliveryId: deliveryIdOf(id, endpointId),
      positions: chosen.map(({ position }) => position),
      memberIds: chosen.map(({ event }) => event.id),
    });
    return true;
  }

  #wakeIn(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.wake();
      },
      Math.max(1, ms),
    );
  }
}

interface EncodedMember extends Member {
  readonly body: Uint8Array;
}

/** Returns how many members fit, from the first on; an oversized one goes alone. */
function fitting(
  members: readonly EncodedMember[],
  framingBytes: number,
  { maxBytes }: BatchSettings,
): number {
  let bytes = framingBytes;
  const tooMany = members.findIndex(({ body }) => {
    bytes += body.length + 1;
    return bytes > maxBytes;
  });
  return tooMany === -1 ? members.length : Math.max(1, tooMany);
}

/** Two writers may have numbered the events of a subject in one order and added them in another. */
function inOrder(members: readonly EncodedMember[]): EncodedMember[] {
  const bySubject = new Map<string, EncodedMember[]>();
  for (const member of members) {
    const { subject, sequence } = member.event;
    if (subject === null || sequence === null) continue;
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), member]);
  }
  for (const sameSubject of bySubject.values())
    sameSubject.sort((a, b) => (a.event.sequence as number) - (b.event.sequence as number));
  const isNumbered = ({ event }: Member) => event.subject !== null && event.sequence !== null;
  return members.map((member) =>
    isNumbered(member) ? (bySubject.get(member.event.subject as string)?.shift() as EncodedMember) : member,
  );
}

function batchEvent(id: Uuid, tenant: string, payload: Uint8Array): Event {
  return {
    id,
    tenant,
    type: BATCH_TYPE,
    apiVersion: "1",
    subject: null,
    sequence: null,
    payload,
    createdAt: new Date(0),
  };
}
