// What this process works on in transactions, or will when its turn comes. A duplicate is told at once: it would only
// wait for its turn to hear the same, and a handler would wait for ever for what it holds up itself.
import type { Message } from "../../model.ts";
import type { ClaimOptions, RunResult } from "../../store.ts";

type Order = Pick<ClaimOptions, "order">;
type Conflict = Extract<RunResult, { kind: "other_body" | "running" }>;

/** A transaction has no lease to tell the end of; most are over by then. */
export const inTransaction = { kind: "running", retryAfterMs: 1_000 } as const;

export class InFlightMessages {
  readonly #digests = new Map<string, string>();
  readonly #subjects = new Set<string>();

  /** Null when neither the message nor, with the sequence guard, its subject is in hand. */
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

  /** Not before its turn: one that may turn out to be too early must not hinder the next in line. */
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

/** Null for what has no place in a sequence, or where none is kept. */
function orderedSubject({ source, subject, sequence }: Message, { order }: Order): string | null {
  return order === null || subject === null || sequence === null ? null : JSON.stringify([source, subject]);
}
