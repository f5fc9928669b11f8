// Messages that this process handles in transactions, or that are queued for one. A duplicate is rejected at once: queueing
// it would end the same way, and a handler that waits for its own message would wait forever.
import { type Message, messageName } from "../model.ts";
import { type ClaimOptions, isOrdered, type RunResult } from "../store.ts";

type Order = Pick<ClaimOptions, "order">;
type Conflict = Extract<RunResult, { kind: "other_body" | "running" }>;

/** A transaction has no lease; most have ended after this time. */
export const inTransaction = { kind: "running", retryAfterMs: 1_000 } as const;

export class InFlightMessages {
  readonly #digests = new Map<string, string>();
  readonly #subjects = new Set<string>();

  /** Null if neither the message nor, with ordering, its subject is in flight. */
  conflictWith(message: Message, options: Order = { order: null }): Conflict | null {
    const digest = this.#digests.get(messageName(message));
    if (digest !== undefined && digest !== message.digest) return { kind: "other_body" };
    const subject = orderedSubject(message, options);
    const isSubjectTaken = subject !== null && this.#subjects.has(subject);
    return digest !== undefined || isSubjectTaken ? inTransaction : null;
  }

  async track<T>(message: Message, act: () => Promise<T>): Promise<T> {
    const name = messageName(message);
    this.#digests.set(name, message.digest);
    try {
      return await act();
    } finally {
      this.#digests.delete(name);
    }
  }

  /** Tracked only while it is handled: a queued message that turns out to be early must not block the next one. */
  async trackSubject<T>(message: Message, options: Order, work: () => Promise<T>): Promise<T> {
    const subject = orderedSubject(message, options);
    if (subject === null) return await work();
    this.#subjects.add(subject);
    try {
      return await work();
    } finally {
      this.#subjects.delete(subject);
    }
  }
}

/** Null for messages without ordering. */
function orderedSubject(message: Message, options: Order): string | null {
  return isOrdered(message, options) ? JSON.stringify([message.source, message.subject]) : null;
}
