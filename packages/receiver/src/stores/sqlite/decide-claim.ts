// Decides whether a message may be claimed: the state machine of store.ts as a pure function.
import type { Message } from "../../model.ts";
import type { ClaimOptions, ClaimResult, OrderOptions } from "../../store.ts";

export type State = "running" | "failed" | "waiting" | "dead" | "done";

/** The stored state of a message. */
export interface MessageRecord {
  readonly digest: string;
  readonly state: State;
  /** Depending on the state: the end of the lease, when it is due, or when it failed, died or was done. */
  readonly at: number;
  readonly firstSeenAt: number;
}

/** The stored state of a message's subject. */
export interface SubjectRecord {
  /** The highest sequence done; null before the first, because a sender may begin at 0. */
  readonly lastSequence: number | null;
  /** Until when a message of the subject is claimed. */
  readonly busyUntil: number | null;
}

export type Decision = { readonly kind: "free" } | Exclude<ClaimResult, { kind: "claimed" }>;

const free: Decision = { kind: "free" };

/** Decides for a delivered message. */
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

/** Decides by the order of its subject, for a message that is not claimed. */
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

/** Done longer ago than the window, so it counts as new. */
export function isForgotten({ state, at }: MessageRecord, windowMs: number, now: number): boolean {
  return state === "done" && at + windowMs <= now;
}
