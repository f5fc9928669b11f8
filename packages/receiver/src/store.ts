// The contract of a store. There are four implementations (stores/); one test suite checks each of them against this file.
//
//            claim                complete
//   absent ─────────► running ───────────────► done ──(after the window)──► absent
//     │  ▲               │ fail: release          ▲
//     │  └── failed ◄────┤ (claimable at once)    │
//     │                  │                        │
//     │ accept           │ fail: dead             │ discard
//     └─────► waiting ◄──┼──────────► dead ───────┘
//                 ▲      │ fail: retry,  │ requeue
//                 └──────┴─lease expires─┘
//
// Times are the store's own (the database's clock), so that receivers with wrong clocks agree on leases. An expired lease
// is lost, whether or not another process has claimed the message since.
import type { Message, MessageKey } from "./model.ts";
import type { SubscriptionStore } from "./websub/subscription.ts";

export interface Store<Tx = unknown> {
  /** Creates tables or whatever the store needs. May run repeatedly and in several processes at once. */
  migrate(): Promise<void>;

  /** Claims the message for this process until the lease expires. Atomic: of any number of callers, one succeeds. */
  claim(message: Message, options: ClaimOptions): Promise<ClaimResult>;
  /** Extends the lease to this long from now. False if it was lost: stop working, another process may have the message. */
  renew(claim: Claim, leaseMs: number): Promise<boolean>;
  /** Marks the message as done. Returns false, and writes nothing, if the lease was lost. */
  complete(claim: Claim): Promise<boolean>;
  /** Records a failure. Returns false, and writes nothing, if the lease was lost. */
  fail(claim: Claim, failure: Failure): Promise<boolean>;

  /** Null if a handler's writes cannot be part of the store's transaction. */
  readonly transactions: Transactions<Tx> | null;

  /** Puts the message into the inbox. Durable when the promise resolves. */
  accept(message: Message, options: AcceptOptions): Promise<AcceptResult>;
  /**
   * Claims up to `limit` messages: waiting ones that are due and those whose lease expired, longest due first. With ordering, only the
   * lowest sequence of a subject. Stale messages found on the way are marked as done.
   */
  claimDue(limit: number, options: ClaimOptions): Promise<Claim[]>;
  /** Claims one message that `requeue` made due. Null if another process has it, it must wait for its subject, or it was stale. */
  claimOne(key: MessageKey, options: ClaimOptions): Promise<Claim | null>;

  readonly deadLetters: DeadLetterStore;

  /** The subscriptions of `@posthorn/receiver/websub`. Absent if the store does not support them. */
  readonly subscriptions?: SubscriptionStore;

  /**
   * Deletes up to `limit` messages that were done, or failed without another delivery, longer ago than the window, and up to `limit`
   * subjects last seen before it. Returns the number of rows deleted; 0 means that nothing is left to delete.
   */
  prune(limit: number, options: { readonly windowMs: number }): Promise<number>;
}

export interface ClaimOptions {
  readonly leaseMs: number;
  /** A message that was done longer ago than this counts as new. */
  readonly windowMs: number;
  /** Null disables ordering. */
  readonly order: OrderOptions | null;
}

/** An ordered message is claimed even without a handler: otherwise its successors would wait for it as for a gap. */
export function isOrdered(
  { subject, sequence }: Pick<Message, "subject" | "sequence">,
  { order }: Pick<ClaimOptions, "order">,
): boolean {
  return order !== null && subject !== null && sequence !== null;
}

/** Ordering of messages that have a subject and a sequence. At most one message of a subject is claimed at a time. */
export interface OrderOptions {
  /**
   * How long a message waits for missing predecessors, counted from when it was first seen; 0 does not wait. Sequences begin at 1, so
   * a subject whose first message has a higher sequence has a gap.
   */
  readonly gapWaitMs: number;
}

export type ClaimResult =
  | { readonly kind: "claimed"; readonly claim: Claim }
  /** It was handled within the window. */
  | { readonly kind: "done" }
  /** It is in the inbox or a dead letter: the sender need not send it again. */
  | { readonly kind: "waiting" }
  | { readonly kind: "dead" }
  /** It, or another message of its subject, is claimed for at most this long. */
  | { readonly kind: "running"; readonly retryAfterMs: number }
  /** The id is known with another digest. Nothing was written. */
  | { readonly kind: "other_body" }
  /** A message of its subject with this sequence or a later one is done. It is marked as done without being handled. */
  | { readonly kind: "stale" }
  /** An earlier message of its subject is missing, and the wait for it is not over. */
  | { readonly kind: "gap"; readonly retryAfterMs: number };

export interface Claim {
  readonly message: Message;
  /** The fencing token. Never reused. */
  readonly token: string;
  /** Failures so far. An expired lease counts as one, so that a message that kills the process is not retried forever. */
  readonly failures: number;
}

export type AcceptOptions = Pick<ClaimOptions, "windowMs">;

export type AcceptResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "done" }
  | { readonly kind: "waiting" }
  | { readonly kind: "dead" }
  /** It is claimed for at most this long. It is not accepted: after a failure only the next delivery may bring it back. */
  | { readonly kind: "running"; readonly retryAfterMs: number }
  | { readonly kind: "other_body" };

export interface Failure {
  /** One line for people; at most 1,000 characters are stored. */
  readonly error: string;
  /**
   * `release`: claimable at once, by the next delivery. `retry`: due in the inbox after this long. `dead`: a dead letter until a person
   * acts on it.
   */
  readonly next:
    | { readonly kind: "release" }
    | { readonly kind: "retry"; readonly afterMs: number }
    | { readonly kind: "dead" };
}

export interface Transactions<Tx> {
  /**
   * Claims, works and marks as done in one transaction. `work` runs only if the claim succeeded; the token of its claim is not valid
   * outside. If `work` or the commit throws, everything is rolled back and the error is rethrown. Meanwhile other callers get
   * `running` at once.
   */
  run(
    message: Message,
    options: ClaimOptions,
    work: (tx: Tx, claim: Claim) => Promise<void>,
  ): Promise<RunResult>;
  /** For messages claimed by `claimDue`: works and marks as done in one transaction. False, and rolled back, if the lease was lost. */
  finish(claim: Claim, work: (tx: Tx) => Promise<void>): Promise<boolean>;
  /** Called after `run` threw. Returns false, and writes nothing, if the message is done or was claimed since. */
  recordFailure(message: Message, failure: Failure, options: AcceptOptions): Promise<boolean>;
}

export type RunResult = { readonly kind: "worked" } | Exclude<ClaimResult, { kind: "claimed" }>;

export interface DeadLetterStore {
  /** Newest first; `after` is the last one of the previous page. */
  list(options: { readonly limit: number; readonly after?: DeadLetter }): Promise<DeadLetter[]>;
  count(): Promise<number>;
  /** Moves it to the inbox, due now, with its failures reset. Returns false if it is not a dead letter. */
  requeue(key: MessageKey): Promise<boolean>;
  /** Makes it a dead letter again if no worker has claimed it since `requeue`. Returns false if it is not waiting. */
  undoRequeue(key: MessageKey): Promise<boolean>;
  /** Marks it as done without handling it. Returns false if it is not a dead letter. */
  discard(key: MessageKey): Promise<boolean>;
}

export interface DeadLetter {
  readonly message: Message;
  readonly failures: number;
  readonly error: string;
  readonly diedAt: Date;
}
