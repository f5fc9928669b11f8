// Messages that this process handles in transactions, or that are queued for one. A duplicate is rejected at once: queueing
// it would end the same way, and a handler that waits for its own message would wait for ever.
import type { Message } from "../../model.ts";
import type { ClaimOptions, RunResult } from "../../store.ts";

type Order = Pick<ClaimOptions, "order">;
type Conflict = Extract<RunResult, { kind: "other_body" | "running" }>;

/** A transaction has no lease; most have ended after this time. */
export const inTransaction = { kind: "running", retryAfterMs: 1_000 } as const;

export class InFlightMessages {
  readonly #digests = new Map<string, string>();
  readonly #subjects = new Set<string>();

  /** Null if neither the message nor, with ordering, its subject is in flight. */
  conflictWith(message: Message, terms: Order): Conflict | null {
    const digest = this.#digests.get(nameOf(message));
    if (digest !== undefined && digest !== message.digest) return { kind: "other_body" };
    const subject = orderedSubject(message, terms);
    const isSubjectTaken = subject !== null && this.#subjects.has(subject);
    return digest !== undefined || isSubjectTaken ? inTransaction : null;
  }

  async track<T>(message: Message, act: () => Promise<T>): Promise<T> {
    const name = nameOf(message);
    this.#digests.set(name, message.digest);
    try {
      return await act();
    } finally {
      this.#digests.delete(name);
    }
  }

  /** Tracked only while it is handled: a queued message that turns out to be early must not block the next one. */
  async trackSubject<T>(message: Message, terms: Order, work: () => Promise<T>): Promise<T> {
    const subject = orderedSubject(message, terms);
    if (subject === null) return await work();
    this.#subjects.add(subject);
    try {
      return await work();
    } finally {
      this.#subjects.delete(subject);
    }
  }
}

function nameOf({ source, id }: Message): string {
  return JSON.stringify([source, id]);
}

/** Null for messages without ordering. */
function orderedSubject({ source, subject, sequence }: Message, { order }: Order): string | null {
  return order === null || subject === null || sequence === null ? null : JSON.stringify([source, subject]);
}
