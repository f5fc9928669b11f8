// Events on their way into the database, and the limits on their number.
import { formatId } from "@posthorn/wire";
import { PosthornError } from "../errors.ts";
import type { Event } from "../model.ts";
import type { IdempotencyKey } from "../storage/queries/events/number.ts";

export interface PublishResult {
  readonly id: string;
  /** The event's sequence in its subject; null without a subject. */
  readonly sequence: number | null;
  /** The idempotency key was known: `id` is the first event's, and nothing was created. */
  readonly duplicate: boolean;
  /** Deliveries this call created; null if they are created later, after your transaction commits. */
  readonly deliveries: number | null;
  /** True if endpoints would have received the event, but the mode of delivery is `drop`. Else left out. */
  readonly dropped?: true;
}

export interface Pending {
  readonly event: Event;
  readonly key: IdempotencyKey | null;
  readonly since: number;
  /** It was passed to another process, which may have stored it or may still store it. */
  readonly mayBeStored: boolean;
  readonly resolve: (result: PublishResult) => void;
  readonly reject: (error: Error) => void;
}

const maxBatchEvents = 500;
const maxBatchBytes = 4 * 1024 * 1024;
/** After a longer outage the publish is rejected; the caller may publish again with the same key. */
const maxWaitMs = 5_000;
const maxWaiting = 20_000;
const maxWaitingBytes = 64 * 1024 * 1024;

/** Returns an error if no more events may wait. */
export function overload(waiting: number, bytes: number): PosthornError | null {
  if (waiting < maxWaiting && bytes < maxWaitingBytes) return null;
  return new PosthornError(
    "overloaded",
    "Too many publishes are waiting for the database; try again in a second.",
  );
}

export function bytesOf(entries: readonly Pending[]): number {
  return entries.reduce((sum, { event }) => sum + event.payload.byteLength, 0);
}

/** Returns the entries, from the first on, that have waited too long. */
export function overdueIn(entries: readonly Pending[]): readonly Pending[] {
  const firstInTime = entries.findIndex(({ since }) => performance.now() - since < maxWaitMs);
  return firstInTime === -1 ? entries : entries.slice(0, firstInTime);
}

/** Returns as many entries, from the first on, as one statement or frame takes. */
export function firstOf(entries: readonly Pending[]): Pending[] {
  let bytes = 0;
  let size = 0;
  while (size < entries.length && size < maxBatchEvents && bytes < maxBatchBytes) {
    bytes += (entries[size] as Pending).event.payload.byteLength;
    size += 1;
  }
  return entries.slice(0, size);
}

export function resolveStored(
  { event, resolve }: Pending,
  {
    sequence = null,
    deliveries,
    isDropped = false,
  }: {
    readonly sequence?: number | null;
    readonly deliveries: number | null;
    readonly isDropped?: boolean | undefined;
  },
): void {
  const result = { id: formatId("evt", event.id), sequence, duplicate: false, deliveries };
  resolve(isDropped ? { ...result, dropped: true } : result);
}

export function rejectAll(batch: readonly Pending[], error: Error): void {
  for (const entry of batch) entry.reject(error);
}
