// Whether a message may be worked on now: the state machine of store.ts as a pure function.
import type { Message } from "../../model.ts";
import type { ClaimOptions, ClaimResult, OrderOptions } from "../../store.ts";

export type State = "running" | "failed" | "waiting" | "dead" | "done";

/** What the store has about a message. */
export interface MessageRecord {
  readonly digest: string;
  readonly state: State;
  /** The end of the lease, when it is due, or when it failed, died or was done, by state. */
  readonly at: number;
  readonly firstSeenAt: number;
}

/** What the store has about a message's subject. */
export interface SubjectRecord {
  /** The highest sequence done; null before the first, since a sender may begin at 0. */
  readonly lastSequence: number | null;
  /** Until when a message of it is claimed. */
  readonly busyUntil: number | null;
}

export type Decision = { readonly kind: "free" } | Exclude<ClaimResult, { kind: "claimed" }>;

const free: Decision = { kind: "free" };

/** For a message that was delivered. */
export function decideClaim(
  message: Message,
  { windowMs, order }: ClaimOptions,
  known: MessageRecord | null,
  subject: () => SubjectRecord,
  now: number,
): Decision {
  if (known === null || isForgotten(known, windowMs, now))
    return decideOrder(message, now, order, subject, now);
  if (known.digest !== message.digest) return { kind: "other_body" };
  if (isRunning(known, now)) return { kind: "running", retryAfterMs: known.at - now };
  if (known.state === "running" || known.state === "failed") {
    return decideOrder(message, known.firstSeenAt, order, subject, now);
  }
  return { kind: known.state };
}

/** For a message that nobody has: whether it is its turn within its subject. */
export function decideOrder(
  { sequence, subject: name }: Pick<Message, "subject" | "sequence">,
  firstSeenAt: number,
  order: OrderOptions | null,
  subject: () => SubjectRecord,
  now: number,
): Decision {
  if (order === null || sequence === null || name === null) return free;
  const { lastSequence, busyUntil } = subject();
  if (busyUntil !== null) return { kind: "running", retryAfterMs: busyUntil - now };
  if (lastSequence !== null && sequence <= lastSequence) return { kind: "stale" };
  const retryAfterMs = firstSeenAt + order.gapWaitMs - now;
  return sequence > (lastSequence ?? 0) + 1 && retryAfterMs > 0 ? { kind: "gap", retryAfterMs } : free;
}

export function isRunning({ state, at }: MessageRecord, now: number): boolean {
  return state === "running" && at > now;
}

/** Done longer than the window ago: it is fresh. */
export function isForgotten({ state, at }: MessageRecord, windowMs: number, now: number): boolean {
  return state === "done" && at + windowMs <= now;
}
