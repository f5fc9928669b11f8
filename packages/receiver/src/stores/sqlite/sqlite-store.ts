// The store in SQLite. Handlers may write in the store's transaction, so a crash leaves all or nothing.
import type { Message, MessageKey } from "../../model.ts";
import { rejectUnknownOptions, wholeNumber } from "../../options.ts";
import type {
  AcceptOptions,
  AcceptResult,
  Claim,
  ClaimOptions,
  ClaimResult,
  DeadLetterStore,
  Failure,
  RunResult,
  Store,
  Transactions,
} from "../../store.ts";
import { LockedClaims } from "../locked-claims.ts";
import { Connection, type SqliteConnection } from "./connection.ts";
import { sqliteDeadLetters } from "./dead-letters.ts";
import { type Decision, decideClaim, isForgotten, isRunning } from "./decide-claim.ts";
import { InFlightMessages, inTransaction } from "./in-flight-messages.ts";
import { Inbox } from "./inbox.ts";
import { type MessageRow, Messages } from "./messages.ts";
import { migrate } from "./migrate.ts";
import { prune } from "./prune.ts";
import { Subjects } from "./subjects.ts";
import { DatabaseBusy, TransactionQueue } from "./transaction-queue.ts";

export interface SqliteStoreOptions {
  /** How long to wait for the transactions of other processes. Default 5 seconds. */
  readonly busyWaitMs?: number;
  /** How long to wait for earlier handlers of this process. Default 30 seconds. */
  readonly queueWaitMs?: number;
}

export const sqliteStoreOptionNames = [
  "busyWaitMs",
  "queueWaitMs",
] as const satisfies (keyof SqliteStoreOptions)[];

/**
 * Give it its own connection, in WAL mode: the store's transactions and the handlers' (`tx` is this connection) run on it one
 * after another.
 */
export function sqliteStore<Db extends SqliteConnection>(
  db: Db,
  options: SqliteStoreOptions = {},
): Store<Db> {
  return new SqliteStore(db, options);
}

/** Accepting ignores ordering. */
const UNORDERED = { order: null };

class SqliteStore<Db extends SqliteConnection> implements Store<Db> {
  readonly deadLetters: DeadLetterStore;
  readonly transactions: Transactions<Db>;
  readonly #connection: Connection;
  readonly #queue: TransactionQueue;
  readonly #messages: Messages;
  readonly #subjects: Subjects;
  readonly #inbox: Inbox;
  readonly #inFlight = new InFlightMessages();
  readonly #finishing = new LockedClaims();

  constructor(db: Db, options: SqliteStoreOptions) {
    rejectUnknownOptions("sqliteStore", options, sqliteStoreOptionNames);
    const { busyWaitMs = 5_000, queueWaitMs = 30_000 } = options;
    this.#connection = new Connection(db);
    this.#queue = new TransactionQueue(this.#connection, {
      busyWaitMs: wholeNumber("busyWaitMs", busyWaitMs, 0, 600_000),
      queueWaitMs: wholeNumber("queueWaitMs", queueWaitMs, 1, 600_000),
    });
    this.#messages = new Messages(this.#connection);
    this.#subjects = new Subjects(this.#connection);
    this.#inbox = new Inbox(this.#connection, this.#messages, this.#subjects);
    this.deadLetters = sqliteDeadLetters(this.#connection, this.#queue, this.#messages, Date.now);
    this.transactions = {
      run: (message, terms, work) => this.#run(db, message, terms, work),
      finish: (claim, work) => this.#finish(db, claim, work),
      recordFailure: (message, failure, terms) => this.#recordFailure(message, failure, terms),
    };
  }

  migrate(): Promise<void> {
    return this.#queue.transaction(() => migrate(this.#connection));
  }

  claim(message: Message, terms: ClaimOptions): Promise<ClaimResult> {
    return this.#orRunning(() =>
      this.#queue.transaction((): ClaimResult => {
        const now = Date.now();
        const { decision, known } = this.#decide(message, terms, now);
        if (decision.kind !== "free") return this.#recordUnclaimed(message, terms, decision, known, now);
        const claim = newClaim(message, known);
        this.#messages.keep(message, {
          state: "running",
          at: now + terms.leaseMs,
          firstSeenAt: known?.firstSeenAt ?? now,
          windowMs: terms.windowMs,
          tries: claim.tries,
          token: claim.token,
          isOrdered: isOrdered(message, terms),
        });
        return { kind: "claimed", claim };
      }),
    );
  }

  async renew(claim: Claim, leaseMs: number): Promise<boolean> {
    if (this.#finishing.recordRenewal(claim, leaseMs)) return true;
    return await this.#whileHeld(claim, (_, now) => this.#messages.extend(claim.message, now + leaseMs));
  }

  complete(claim: Claim): Promise<boolean> {
    return this.#whileHeld(claim, (held, now) => this.#complete(claim.message, held, now));
  }

  fail(claim: Claim, { error, next }: Failure): Promise<boolean> {
    return this.#whileHeld(claim, (held, now) => {
      const { state, at } = afterFailure(next, now);
      this.#messages.change(claim.message, { state, at, tries: held.tries + 1, error });
    });
  }

  async accept(message: Message, terms: AcceptOptions): Promise<AcceptResult> {
    return this.#inFlight.conflictWith(message, UNORDERED) ?? this.#accept(message, terms);
  }

  #accept(message: Message, terms: AcceptOptions): Promise<AcceptResult> {
    return this.#queue.transaction((): AcceptResult => {
      const now = Date.now();
      const known = this.#find(message, terms.windowMs, now);
      if (known && known.digest !== message.digest) return { kind: "other_body" };
      if (known && isRunning(known, now)) return { kind: "running", retryAfterMs: known.at - now };
      if (known?.state === "running") return { kind: "waiting" };
      if (known && known.state !== "failed") return { kind: known.state };
      this.#messages.keep(message, {
        state: "waiting",
        at: now,
        firstSeenAt: known?.firstSeenAt ?? now,
        windowMs: terms.windowMs,
        tries: known?.tries ?? 0,
      });
      return { kind: "accepted" };
    });
  }

  claimDue(limit: number, terms: ClaimOptions): Promise<Claim[]> {
    return this.#queue.transaction(() => this.#inbox.claimDue(limit, terms, Date.now()));
  }

  claimOne({ source, id }: MessageKey, terms: ClaimOptions): Promise<Claim | null> {
    return this.#queue.transaction(() => this.#inbox.claimOne(source, id, terms, Date.now()));
  }

  prune(limit: number, { windowMs }: { readonly windowMs: number }): Promise<number> {
    return this.#queue.transaction(() => prune(this.#connection, limit, Date.now() - windowMs));
  }

  async #run(
    db: Db,
    message: Message,
    terms: ClaimOptions,
    work: (tx: Db, claim: Claim) => Promise<void>,
  ): Promise<RunResult> {
    const claimAndWork = () => this.#queue.transaction(() => this.#claimAndWork(db, message, terms, work));
    return (
      this.#inFlight.conflictWith(message, terms) ??
      (await this.#inFlight.track(message, () => this.#orRunning(claimAndWork)))
    );
  }

  async #claimAndWork(
    db: Db,
    message: Message,
    terms: ClaimOptions,
    work: (tx: Db, claim: Claim) => Promise<void>,
  ): Promise<RunResult> {
    const startedAt = Date.now();
    const { decision, known } = this.#decide(message, terms, startedAt);
    if (decision.kind !== "free") return this.#recordUnclaimed(message, terms, decision, known, startedAt);
    await this.#inFlight.trackSubject(message, terms, () =>
      this.#queue.runHandler(() => work(db, newClaim(message, known))),
    );
    const doneAt = Date.now();
    this.#recordDone(message, terms, known, doneAt);
    if (isOrdered(message, terms)) this.#subjects.advance(message, doneAt);
    return { kind: "worked" };
  }

  /** Keeps the write lock from the check to the commit, so no other process can claim the message if its lease expires meanwhile. */
  #finish(db: Db, claim: Claim, work: (tx: Db) => Promise<void>): Promise<boolean> {
    const workAndFinish = async () => {
      const held = this.#held(claim, Date.now());
      if (held === null) return false;
      this.#finishing.begin(claim);
      await this.#queue.runHandler(() => work(db));
      this.#complete(claim.message, held, Date.now());
      return true;
    };
    return this.#inFlight.track(claim.message, () =>
      this.#queue
        .transaction(workAndFinish, () => this.#keepLease(claim))
        .finally(() => this.#finishing.end(claim)),
    );
  }

  /** Renews the lease, even an expired one, before any other transaction of this process. */
  #keepLease(claim: Claim): void {
    const leaseMs = this.#finishing.leaseAfterRollback(claim);
    const row = this.#messages.find(claim.message);
    if (leaseMs === null || row?.state !== "running" || row.token !== claim.token) return;
    this.#messages.extend(claim.message, Date.now() + leaseMs);
  }

  #recordFailure(message: Message, { error, next }: Failure, { windowMs }: AcceptOptions): Promise<boolean> {
    return this.#queue.transaction(() => {
      const now = Date.now();
      const row = this.#find(message, windowMs, now);
      const isOurs =
        row === null || row.state === "failed" || (row.state === "running" && !isRunning(row, now));
      if (!isOurs) return false;
      this.#messages.keep(message, {
        ...afterFailure(next, now),
        firstSeenAt: row?.firstSeenAt ?? now,
        windowMs,
        tries: (row?.tries ?? 0) + 1,
        error,
      });
      return true;
    });
  }

  #decide(
    message: Message,
    terms: ClaimOptions,
    now: number,
  ): { decision: Decision; known: MessageRow | null } {
    const known = this.#find(message, terms.windowMs, now);
    const subject = () => this.#subjects.find(message, now);
    return { known, decision: decideClaim(message, terms, known, subject, now) };
  }

  /** Stores what must be known about a message that was not claimed. */
  #recordUnclaimed<Result extends Exclude<Decision, { kind: "free" }>>(
    message: Message,
    terms: ClaimOptions,
    result: Result,
    known: MessageRow | null,
    now: number,
  ): Result {
    if (result.kind === "stale") this.#recordDone(message, terms, known, now);
    if (result.kind === "gap" && known === null) {
      const { windowMs } = terms;
      this.#messages.note(message, { state: "failed", at: now, firstSeenAt: now, windowMs, tries: 0 });
    }
    return result;
  }

  #recordDone(message: Message, { windowMs }: ClaimOptions, known: MessageRow | null, now: number): void {
    const firstSeenAt = known?.firstSeenAt ?? now;
    this.#messages.note(message, { state: "done", at: now, firstSeenAt, windowMs, tries: known?.tries ?? 0 });
  }

  #complete(message: Message, held: MessageRow, now: number): void {
    this.#messages.finish(message, now);
    if (held.isOrdered) this.#subjects.advance(message, now);
  }

  #whileHeld(claim: Claim, act: (held: MessageRow, now: number) => void): Promise<boolean> {
    return this.#queue.transaction(() => {
      const now = Date.now();
      const held = this.#held(claim, now);
      if (held !== null) act(held, now);
      return held !== null;
    });
  }

  #held({ message, token }: Claim, now: number): MessageRow | null {
    const row = this.#messages.find(message);
    return row !== null && row.token === token && isRunning(row, now) ? row : null;
  }

  /** Null also if it was done longer ago than the window. */
  #find(key: MessageKey, windowMs: number, now: number): MessageRow | null {
    const row = this.#messages.find(key);
    return row && isForgotten(row, windowMs, now) ? null : row;
  }

  /** The process that has the lock may be handling this very message. */
  async #orRunning<Result>(act: () => Promise<Result>): Promise<Result | typeof inTransaction> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof DatabaseBusy) return inTransaction;
      throw error;
    }
  }
}

function newClaim(message: Message, known: MessageRow | null): Claim {
  const tries = (known?.tries ?? 0) + (known?.state === "running" ? 1 : 0);
  return { message, token: crypto.randomUUID(), tries };
}

function isOrdered({ subject, sequence }: Message, { order }: ClaimOptions): boolean {
  return order !== null && subject !== null && sequence !== null;
}

function afterFailure(next: Failure["next"], now: number) {
  const state = ({ release: "failed", retry: "waiting", dead: "dead" } as const)[next.kind];
  return { state, at: now + (next.kind === "retry" ? next.afterMs : 0) };
}
