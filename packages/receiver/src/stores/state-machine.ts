// The state machine of ../store.ts for stores that change their rows in synchronous, atomic steps: memory and SQLite. They
// provide the rows as a `MessageTable`.
import type { Message, MessageKey } from "../model.ts";
import {
  type AcceptOptions,
  type AcceptResult,
  type Claim,
  type ClaimOptions,
  type ClaimResult,
  type DeadLetter,
  type Failure,
  isOrdered,
  type OrderOptions,
  type Store,
} from "../store.ts";
import { MAX_ERROR_LENGTH } from "./results.ts";

/** A message without its content. Subject and sequence are null if the content is not stored. */
export interface MessageRow extends Pick<Message, "source" | "id" | "digest" | "subject" | "sequence"> {
  readonly state: "running" | "failed" | "waiting" | "dead" | "done";
  /** Depending on the state: the end of the lease, when it is due, or when it failed, died or was done. */
  readonly at: number;
  readonly firstSeenAt: number;
  readonly failures: number;
  readonly error: string;
  readonly token: string | null;
  /** Whether its claim holds its subject. */
  readonly isOrdered: boolean;
}

export interface SubjectState {
  /** The highest sequence done; null before the first, because a sender may begin at 0. */
  readonly lastSequence: number | null;
  /** Until when a message of the subject is claimed. */
  readonly busyUntil: number | null;
}

export interface MessageTable {
  find(key: MessageKey): MessageRow | null;
  /** Reads the content of a message that has one. */
  read(key: MessageKey): Message;
  /** Inserts or replaces a row. Without content it is done, or the next delivery brings the content. */
  put(row: MessageRow, content: Message | null): void;
  /** Replaces a row and keeps its content. */
  update(row: MessageRow): void;
  /** Running and waiting rows whose time has come, longest due first; in order, the rows of a subject by their sequence. */
  due(now: number, isOrdered: boolean): Iterable<MessageRow>;
  subject(message: MessageRow | Message, now: number): SubjectState;
  /** Records that a sequence of the subject is done. */
  advance(message: MessageRow | Message, now: number): void;
  deadLetters(limit: number, after: DeadLetter | undefined): DeadLetter[];
  countDead(): number;
  /** Deletes up to `limit` failed or done messages and as many subjects that are older; returns the number of deleted rows. */
  prune(limit: number, until: number): number;
}

type NotClaimed = Exclude<ClaimResult, { kind: "claimed" }>;
type Waits = Extract<ClaimResult, { kind: "running" | "stale" | "gap" }>;

export class StateMachine {
  readonly #table: MessageTable;

  constructor(table: MessageTable) {
    this.#table = table;
  }

  claim(message: Message, options: ClaimOptions): ClaimResult {
    const now = Date.now();
    const decision = this.decide(message, options, now);
    if (decision.kind !== "free") return decision;
    const { failures, firstSeenAt } = decision;
    const token = crypto.randomUUID();
    const row = newRow(message, "running", now + options.leaseMs);
    this.#table.put(
      { ...row, failures, firstSeenAt, token, isOrdered: isOrdered(message, options) },
      message,
    );
    return { kind: "claimed", claim: { message, token, failures } };
  }

  /** Decides whether the message may be claimed. If not, stores what must be known about it. */
  decide(
    message: Message,
    options: ClaimOptions,
    now: number,
  ): NotClaimed | { readonly kind: "free"; readonly failures: number; readonly firstSeenAt: number } {
    const known = this.#remembered(message, options, now);
    const duplicate = known && duplicateOf(known, message, now);
    if (duplicate) return duplicate;
    if (known?.state === "waiting") return { kind: "waiting" };
    const firstSeenAt = known?.firstSeenAt ?? now;
    const waits = this.#waits(message, firstSeenAt, options.order, now);
    if (waits === null) return { kind: "free", failures: failuresOf(known), firstSeenAt };
    if (waits.kind === "stale") this.finish(message, { isApplied: false });
    else if (known === null) this.#table.put(newRow(message, "failed", now), null);
    return waits;
  }

  renew(claim: Claim, leaseMs: number): boolean {
    return this.#whileHeld(claim, (row, now) => this.#table.update({ ...row, at: now + leaseMs }));
  }

  /** Renews a lease, even an expired one, of a message that no other process could claim meanwhile. */
  renewLocked({ message, token }: Claim, leaseMs: number): void {
    const row = this.#table.find(message);
    if (row?.state === "running" && row.token === token) {
      this.#table.update({ ...row, at: Date.now() + leaseMs });
    }
  }

  complete(claim: Claim): boolean {
    return this.#whileHeld(claim, (row) => this.finish(claim.message, { isApplied: row.isOrdered }));
  }

  /** Marks a message as done and deletes its content. If it was applied, its subject advances. */
  finish(message: MessageRow | Message, { isApplied }: { readonly isApplied: boolean }): void {
    const now = Date.now();
    this.#table.put(newRow(message, "done", now), null);
    if (isApplied) this.#table.advance(message, now);
  }

  fail(claim: Claim, failure: Failure): boolean {
    return this.#whileHeld(claim, (row, now) =>
      this.#table.update(failed(row, failure, row.failures + 1, now)),
    );
  }

  /** Records a failure after the claim was rolled back. Returns false if the message is done or was claimed since. */
  recordFailure(message: Message, failure: Failure, options: AcceptOptions): boolean {
    const now = Date.now();
    const known = this.#remembered(message, options, now);
    const isOurs =
      known === null || known.state === "failed" || (known.state === "running" && known.at <= now);
    if (!isOurs) return false;
    const firstSeenAt = known?.firstSeenAt ?? now;
    const row = failed(newRow(message, "failed", now), failure, (known?.failures ?? 0) + 1, now);
    this.#table.put({ ...row, firstSeenAt }, message);
    return true;
  }

  accept(message: Message, options: AcceptOptions): AcceptResult {
    const now = Date.now();
    const known = this.#remembered(message, options, now);
    const duplicate = known && duplicateOf(known, message, now);
    if (duplicate) return duplicate;
    if (known !== null && known.state !== "failed") return { kind: "waiting" };
    const { firstSeenAt = now, failures = 0 } = known ?? {};
    this.#table.put({ ...newRow(message, "waiting", now), firstSeenAt, failures }, message);
    return { kind: "accepted" };
  }

  claimDue(limit: number, options: ClaimOptions): Claim[] {
    const now = Date.now();
    const claims: Claim[] = [];
    for (const row of this.#table.due(now, options.order !== null)) {
      if (claims.length === limit) break;
      const claim = this.#claimRow(row, options, now);
      if (claim !== null) claims.push(claim);
    }
    return claims;
  }

  claimOne(key: MessageKey, options: ClaimOptions): Claim | null {
    const now = Date.now();
    const row = this.#table.find(key);
    return row !== null && isDue(row, now) ? this.#claimRow(row, options, now) : null;
  }

  requeue(key: MessageKey): boolean {
    return this.#inState("dead", key, (row) =>
      this.#table.update({ ...row, state: "waiting", at: Date.now(), failures: 0 }),
    );
  }

  undoRequeue(key: MessageKey): boolean {
    return this.#inState("waiting", key, (row) =>
      this.#table.update({ ...row, state: "dead", at: Date.now() }),
    );
  }

  discard(key: MessageKey): boolean {
    return this.#inState("dead", key, (row) => this.finish(row, { isApplied: false }));
  }

  /** Null also if it was done longer ago than the window. */
  #remembered(key: MessageKey, { windowMs }: AcceptOptions, now: number): MessageRow | null {
    const row = this.#table.find(key);
    return row?.state === "done" && row.at + windowMs <= now ? null : row;
  }

  /** The reason why a message that is not claimed must wait for its subject, or is stale. */
  #waits(
    message: MessageRow | Message,
    firstSeenAt: number,
    order: OrderOptions | null,
    now: number,
  ): Waits | null {
    if (order === null || message.subject === null || message.sequence === null) return null;
    const { lastSequence, busyUntil } = this.#table.subject(message, now);
    if (busyUntil !== null) return { kind: "running", retryAfterMs: busyUntil - now };
    if (lastSequence !== null && message.sequence <= lastSequence) return { kind: "stale" };
    const retryAfterMs = firstSeenAt + order.gapWaitMs - now;
    const isGap = message.sequence > (lastSequence ?? 0) + 1 && retryAfterMs > 0;
    return isGap ? { kind: "gap", retryAfterMs } : null;
  }

  #claimRow(row: MessageRow, options: ClaimOptions, now: number): Claim | null {
    const waits = this.#waits(row, row.firstSeenAt, options.order, now);
    if (waits?.kind === "stale") this.finish(row, { isApplied: false });
    if (waits !== null) return null;
    const failures = failuresOf(row);
    const token = crypto.randomUUID();
    const at = now + options.leaseMs;
    this.#table.update({ ...row, state: "running", at, failures, token, isOrdered: isOrdered(row, options) });
    return { message: this.#table.read(row), token, failures };
  }

  /** The row of a claim; null if its lease was lost. */
  held({ message, token }: Claim, now: number): MessageRow | null {
    const row = this.#table.find(message);
    return row !== null && row.token === token && isRunning(row, now) ? row : null;
  }

  #whileHeld(claim: Claim, act: (row: MessageRow, now: number) => void): boolean {
    const now = Date.now();
    const row = this.held(claim, now);
    if (row !== null) act(row, now);
    return row !== null;
  }

  #inState(state: MessageRow["state"], key: MessageKey, act: (row: MessageRow) => void): boolean {
    const row = this.#table.find(key);
    if (row?.state !== state) return false;
    act(row);
    return true;
  }
}

/** The methods of a store. `atomically` runs one step. */
export function storeMethods(
  states: StateMachine,
  table: MessageTable,
  atomically: <Result>(step: () => Result) => Promise<Result>,
) {
  return {
    claim: (message, options) => atomically(() => states.claim(message, options)),
    renew: (claim, leaseMs) => atomically(() => states.renew(claim, leaseMs)),
    complete: (claim) => atomically(() => states.complete(claim)),
    fail: (claim, failure) => atomically(() => states.fail(claim, failure)),
    accept: (message, options) => atomically(() => states.accept(message, options)),
    claimDue: (limit, options) => atomically(() => states.claimDue(limit, options)),
    claimOne: (key, options) => atomically(() => states.claimOne(key, options)),
    prune: (limit, { windowMs }) => atomically(() => table.prune(limit, Date.now() - windowMs)),
    deadLetters: {
      list: ({ limit, after }) => atomically(() => table.deadLetters(limit, after)),
      count: () => atomically(() => table.countDead()),
      requeue: (key) => atomically(() => states.requeue(key)),
      undoRequeue: (key) => atomically(() => states.undoRequeue(key)),
      discard: (key) => atomically(() => states.discard(key)),
    },
  } satisfies Partial<Store>;
}

export function isRunning({ state, at }: MessageRow, now: number): boolean {
  return state === "running" && at > now;
}

export function isDue({ state, at }: MessageRow, now: number): boolean {
  return (state === "running" || state === "waiting") && at <= now;
}

/** The result that is the same for a claim and for the inbox. */
function duplicateOf(known: MessageRow, { digest }: Message, now: number) {
  if (known.digest !== digest) return { kind: "other_body" } as const;
  if (isRunning(known, now)) return { kind: "running", retryAfterMs: known.at - now } as const;
  return known.state === "done" || known.state === "dead" ? { kind: known.state } : null;
}

/** An expired lease counts as a failure. */
function failuresOf(row: MessageRow | null): number {
  return (row?.failures ?? 0) + (row?.state === "running" ? 1 : 0);
}

function newRow(
  { source, id, digest, subject, sequence }: MessageRow | Message,
  state: MessageRow["state"],
  at: number,
): MessageRow {
  const empty = { firstSeenAt: Date.now(), failures: 0, error: "", token: null, isOrdered: false };
  return { source, id, digest, subject, sequence, state, at, ...empty };
}

function failed(row: MessageRow, { error, next }: Failure, failures: number, now: number): MessageRow {
  const state = ({ release: "failed", retry: "waiting", dead: "dead" } as const)[next.kind];
  const at = now + (next.kind === "retry" ? next.afterMs : 0);
  return {
    ...row,
    state,
    at,
    failures,
    error: error.slice(0, MAX_ERROR_LENGTH),
    token: null,
    isOrdered: false,
  };
}
