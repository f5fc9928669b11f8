// The store that loses its content when the process ends: for tests, and for a single process that may handle an event again
// after a restart. Each method is atomic, because it contains no `await`.
import type { Message, MessageKey } from "../../model.ts";
import type {
  AcceptOptions,
  AcceptResult,
  Claim,
  ClaimOptions,
  ClaimResult,
  DeadLetter,
  DeadLetterStore,
  Failure,
  OrderOptions,
  Store,
} from "../../store.ts";
import {
  byTime,
  isDue,
  isRunning,
  lowestSequenceFirst,
  nameOf,
  newestFirst,
  oldest,
  type Row,
  type Subject,
} from "./rows.ts";
import { MemorySubscriptions } from "./subscriptions.ts";

export interface MemoryStore extends Store<never> {
  /** The number of stored messages and subjects. */
  readonly size: number;
}

export function memoryStore(): MemoryStore {
  return new Memory();
}

const MAX_ERROR_LENGTH = 1_000;

class Memory implements MemoryStore {
  readonly transactions = null;
  readonly subscriptions = new MemorySubscriptions();
  /** All messages that are not done, oldest first. */
  readonly #rows = new Map<string, Row>();
  /** Messages that are done, without their bodies, oldest first. */
  readonly #done = new Map<string, { readonly digest: string; readonly doneMs: number }>();
  readonly #subjects = new Map<string, Subject>();

  readonly deadLetters: DeadLetterStore = {
    list: async ({ limit, after }) => this.#listDead(after).slice(0, limit),
    count: async () => this.#deadRows().length,
    requeue: async (key) => this.#requeue(key),
    undoRequeue: async (key) => this.#undoRequeue(key),
    discard: async (key) => this.#discard(key),
  };

  get size(): number {
    return this.#rows.size + this.#done.size + this.#subjects.size;
  }

  async migrate(): Promise<void> {}

  async claim(message: Message, terms: ClaimOptions): Promise<ClaimResult> {
    const nowMs = Date.now();
    const known = this.#known(message, terms, nowMs);
    if (known !== null) return known;
    const found = this.#rows.get(nameOf(message));
    if (found?.state === "waiting") return { kind: "waiting" };
    const row = found ?? this.#add(message, "failed", nowMs);
    const verdict = this.#verdict(row, terms.order, nowMs);
    if (verdict.kind === "stale") this.#finish(row, nowMs);
    return verdict.kind === "free" ? { kind: "claimed", claim: this.#hold(row, terms, nowMs) } : verdict;
  }

  async renew({ token, message }: Claim, leaseMs: number): Promise<boolean> {
    const row = this.#held(message, token);
    if (row !== null) row.timeMs = Date.now() + leaseMs;
    return row !== null;
  }

  async complete({ token, message }: Claim): Promise<boolean> {
    const row = this.#held(message, token);
    if (row === null) return false;
    const subject = row.isOrdered ? this.#subject(message) : null;
    if (subject !== null) subject.lastSequence = Math.max(subject.lastSequence ?? 0, message.sequence ?? 0);
    this.#finish(row, Date.now());
    return true;
  }

  async fail({ token, message }: Claim, { error, next }: Failure): Promise<boolean> {
    const row = this.#held(message, token);
    if (row === null) return false;
    row.tries += 1;
    row.error = error.slice(0, MAX_ERROR_LENGTH);
    row.state = ({ release: "failed", retry: "waiting", dead: "dead" } as const)[next.kind];
    row.timeMs = Date.now() + (next.kind === "retry" ? next.afterMs : 0);
    return true;
  }

  async accept(message: Message, terms: AcceptOptions): Promise<AcceptResult> {
    const nowMs = Date.now();
    const known = this.#known(message, terms, nowMs);
    if (known !== null) return known;
    const row = this.#rows.get(nameOf(message));
    if (row === undefined) this.#add(message, "waiting", nowMs);
    else if (row.state === "failed") Object.assign(row, { state: "waiting", timeMs: nowMs });
    else return { kind: "waiting" };
    return { kind: "accepted" };
  }

  async claimDue(limit: number, terms: ClaimOptions): Promise<Claim[]> {
    const nowMs = Date.now();
    const due = [...this.#rows.values()].filter((row) => isDue(row, nowMs)).sort(byTime);
    const inLine = terms.order === null ? due : lowestSequenceFirst(due);
    const claims: Claim[] = [];
    for (const row of inLine) {
      if (claims.length === limit) break;
      const claim = this.#claimRow(row, terms, nowMs);
      if (claim !== null) claims.push(claim);
    }
    return claims;
  }

  async claimOne(key: MessageKey, terms: ClaimOptions): Promise<Claim | null> {
    const nowMs = Date.now();
    const row = this.#rows.get(nameOf(key));
    return row !== undefined && isDue(row, nowMs) ? this.#claimRow(row, terms, nowMs) : null;
  }

  async prune(limit: number, { windowMs }: { readonly windowMs: number }): Promise<number> {
    const endMs = Date.now() - windowMs;
    const messages = [
      ...oldest(this.#done, limit, ({ doneMs }) => doneMs <= endMs),
      ...oldest(this.#rows, limit, ({ state, timeMs }) => state === "failed" && timeMs <= endMs),
    ].slice(0, limit);
    for (const name of messages) {
      this.#done.delete(name);
      this.#rows.delete(name);
    }
    const subjects = oldest(this.#subjects, limit, ({ lastSeenMs }) => lastSeenMs <= endMs);
    for (const name of subjects) this.#subjects.delete(name);
    return messages.length + subjects.length;
  }

  /** The result that does not depend on ordering; null if the message may be claimed or is waiting. */
  #known(message: Message, { windowMs }: AcceptOptions, nowMs: number) {
    this.#forgetOldest(nowMs - windowMs);
    const name = nameOf(message);
    const done = this.#done.get(name);
    if (done !== undefined && done.doneMs + windowMs <= nowMs) this.#done.delete(name);
    else if (done !== undefined) return done.digest === message.digest ? KNOWN.done : KNOWN.otherBody;
    const row = this.#rows.get(name);
    if (row === undefined) return null;
    if (row.message.digest !== message.digest) return KNOWN.otherBody;
    if (row.state === "dead") return KNOWN.dead;
    if (isRunning(row, nowMs)) return { kind: "running" as const, retryAfterMs: row.timeMs - nowMs };
    return null;
  }

  /** Deletes two expired messages for each new one, so that memory stays bounded without a prune. */
  #forgetOldest(endMs: number): void {
    let left = 2;
    for (const [name, { doneMs }] of this.#done) {
      if (doneMs > endMs || left === 0) return;
      this.#done.delete(name);
      left -= 1;
    }
  }

  #add(message: Message, state: "failed" | "waiting", nowMs: number): Row {
    const row: Row = {
      message,
      firstSeenMs: nowMs,
      state,
      timeMs: nowMs,
      token: "",
      isOrdered: false,
      tries: 0,
      error: "",
    };
    this.#rows.set(nameOf(message), row);
    return row;
  }

  #claimRow(row: Row, terms: ClaimOptions, nowMs: number): Claim | null {
    const { kind } = this.#verdict(row, terms.order, nowMs);
    if (kind === "stale") this.#finish(row, nowMs);
    return kind === "free" ? this.#hold(row, terms, nowMs) : null;
  }

  #verdict({ message, firstSeenMs }: Row, order: OrderOptions | null, nowMs: number): Verdict {
    if (order === null || message.subject === null || message.sequence === null) return { kind: "free" };
    const { lastSequence, holder } = this.#subject(message);
    if (holder !== null && isRunning(holder, nowMs)) {
      return { kind: "running", retryAfterMs: holder.timeMs - nowMs };
    }
    if (lastSequence !== null && message.sequence <= lastSequence) return { kind: "stale" };
    const retryAfterMs = firstSeenMs + order.gapWaitMs - nowMs;
    const isGap = message.sequence > (lastSequence ?? 0) + 1 && retryAfterMs > 0;
    return isGap ? { kind: "gap", retryAfterMs } : { kind: "free" };
  }

  #hold(row: Row, { leaseMs, order }: ClaimOptions, nowMs: number): Claim {
    if (row.state === "running") row.tries += 1;
    row.isOrdered = order !== null && row.message.subject !== null && row.message.sequence !== null;
    row.state = "running";
    row.token = crypto.randomUUID();
    row.timeMs = nowMs + leaseMs;
    if (row.isOrdered) Object.assign(this.#subject(row.message), { holder: row, lastSeenMs: nowMs });
    return { message: row.message, token: row.token, tries: row.tries };
  }

  #held(message: Message, token: string): Row | null {
    const row = this.#rows.get(nameOf(message));
    return row !== undefined && row.token === token && isRunning(row, Date.now()) ? row : null;
  }

  #finish(row: Row, nowMs: number): void {
    const name = nameOf(row.message);
    row.state = "failed"; // no longer running, for the subject's holder
    this.#rows.delete(name);
    this.#done.set(name, { digest: row.message.digest, doneMs: nowMs });
  }

  #subject({ source, subject }: Message): Subject {
    const name = JSON.stringify([source, subject]);
    const found = this.#subjects.get(name) ?? { lastSequence: null, lastSeenMs: Date.now(), holder: null };
    this.#subjects.set(name, found);
    return found;
  }

  #deadRows(): Row[] {
    return [...this.#rows.values()].filter(({ state }) => state === "dead");
  }

  #listDead(after: DeadLetter | undefined): DeadLetter[] {
    const letters = this.#deadRows().map(({ message, tries, error, timeMs }) => ({
      message,
      tries,
      error,
      diedAt: new Date(timeMs),
    }));
    letters.sort(newestFirst);
    return after === undefined ? letters : letters.filter((letter) => newestFirst(after, letter) < 0);
  }

  #requeue(key: MessageKey): boolean {
    const row = this.#rows.get(nameOf(key));
    if (row?.state !== "dead") return false;
    Object.assign(row, { state: "waiting", timeMs: Date.now(), tries: 0 });
    return true;
  }

  #undoRequeue(key: MessageKey): boolean {
    const row = this.#rows.get(nameOf(key));
    if (row?.state !== "waiting") return false;
    Object.assign(row, { state: "dead", timeMs: Date.now() });
    return true;
  }

  #discard(key: MessageKey): boolean {
    const row = this.#rows.get(nameOf(key));
    if (row?.state !== "dead") return false;
    this.#finish(row, Date.now());
    return true;
  }
}

type Verdict = { readonly kind: "free" } | Extract<ClaimResult, { kind: "stale" | "gap" | "running" }>;

const KNOWN = {
  done: { kind: "done" },
  dead: { kind: "dead" },
  otherBody: { kind: "other_body" },
} as const;
