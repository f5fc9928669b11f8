// What a store has to do. Four kinds exist (stores/), and one suite of tests holds each to these sentences.
//
//            claim                complete
//   absent ─────────► running ───────────────► done ──(window over)──► absent
//     │  ▲               │ fail: again            ▲
//     │  └── failed ◄────┤ (claimable at once,    │
//     │                  │  or at `dueAt`)        │
//     │ accept           │ fail: dead             │ dismiss
//     └─────► waiting ◄──┼──────────► dead ───────┘
//                 ▲      │ lease over   │ revive
//                 └──────┴──────────────┘
//
// Times are the store's own (the database's clock), so that receivers with wrong clocks agree on leases. A lease that
// ended is lost, whether or not somebody else has the message by now.
import type { Message, MessageKey } from "./model.ts";
import type { SubscriptionStore } from "./websub/subscription.ts";

export interface Store<Tx = unknown> {
  /** Makes tables or whatever is needed. May run in many processes at once, and again. */
  migrate(): Promise<void>;

  /** Takes the message for this process alone until the lease ends. Atomic: of any number of callers one gets it. */
  claim(message: Message, terms: ClaimOptions): Promise<ClaimResult>;
  /** The lease ends so long from now. False: it was lost and somebody else may have the message; stop working on it. */
  renew(claim: Claim, leaseMs: number): Promise<boolean>;
  /** Done. False: the lease was lost, and nothing was written. */
  complete(claim: Claim): Promise<boolean>;
  /** Not done. False: the lease was lost, and nothing was written. */
  fail(claim: Claim, failure: Failure): Promise<boolean>;

  /** Null where a handler's writes cannot be part of the store's transaction. */
  readonly transactions: Transactions<Tx> | null;

  /** Keeps the message to be worked on later. Durable when it resolves. */
  accept(message: Message, terms: AcceptOptions): Promise<AcceptResult>;
  /**
   * Up to `limit` messages, claimed: waiting ones that are due and those whose lease ended, first what is due longest;
   * of one subject, with the sequence guard, the lowest sequence. Stale ones it comes across are done.
   */
  claimDue(limit: number, terms: ClaimOptions): Promise<Claim[]>;
  /** The same for one message that `revive` made due. Null: somebody else has it, or it may not go now, or was stale. */
  claimOne(key: MessageKey, terms: ClaimOptions): Promise<Claim | null>;

  readonly deadLetters: DeadLetterStore;

  /** What `@posthorn/receiver/websub` follows. Left out where a store cannot keep it. */
  readonly subscriptions?: SubscriptionStore;

  /**
   * Forgets up to `limit` messages done, or failed and not delivered again, longer than the window ago, and up to `limit`
   * subjects not heard of since. Says how many it forgot, so that 0 means: nothing left to forget.
   */
  prune(limit: number, terms: { readonly windowMs: number }): Promise<number>;
}

export interface ClaimOptions {
  readonly leaseMs: number;
  /** A message done longer ago than this is fresh again. */
  readonly windowMs: number;
  /** Null: no sequence guard. */
  readonly order: OrderOptions | null;
}

/** For messages with a subject and a sequence. Of one subject at most one message is claimed at a time. */
export interface OrderOptions {
  /**
   * After a gap: 0 takes the later message at once; otherwise it waits so long, since it was first seen, for the missing
   * ones. Sequences begin at 1, so the first message of a subject with a higher one is after a gap.
   */
  readonly gapWaitMs: number;
}

export type ClaimResult =
  | { readonly kind: "claimed"; readonly claim: Claim }
  /** It was handled within the window. */
  | { readonly kind: "done" }
  /** It is in the inbox, or in the dead letters: it is ours now, and nobody need send it again. */
  | { readonly kind: "waiting" }
  | { readonly kind: "dead" }
  /** Somebody has it, or another message of its subject, for at most so long. */
  | { readonly kind: "running"; readonly retryAfterMs: number }
  /** The id is known with another digest. Nothing was written. */
  | { readonly kind: "other_body" }
  /** One of its subject with this sequence or a later one is done; it is done now too, without having been handled. */
  | { readonly kind: "stale" }
  /** An earlier one of its subject is missing, and there is still time to wait for it. */
  | { readonly kind: "gap"; readonly retryAfterMs: number };

export interface Claim {
  readonly message: Message;
  /** Never used again: the fence. */
  readonly token: string;
  /** Failures so far. A lease that ended is one: what kills the process must not be tried for ever. */
  readonly tries: number;
}

export type AcceptOptions = Pick<ClaimOptions, "windowMs">;

export type AcceptResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "done" }
  | { readonly kind: "waiting" }
  | { readonly kind: "dead" }
  /** Somebody has it, for at most so long. Not ours for good: failing may leave it to the next delivery. */
  | { readonly kind: "running"; readonly retryAfterMs: number }
  | { readonly kind: "other_body" };

export interface Failure {
  /** One line for people; at most 1,000 characters are kept. */
  readonly error: string;
  /**
   * `again`: claimable at once, by the next delivery. `later`: due in the inbox after so long. `dead`: only a person
   * brings it back.
   */
  readonly next:
    | { readonly kind: "release" }
    | { readonly kind: "retry"; readonly afterMs: number }
    | { readonly kind: "dead" };
}

export interface Transactions<Tx> {
  /**
   * Claim, work and done mark in one transaction. `work` runs only when the claim succeeded, and its claim's token
   * means nothing outside. When `work` or the commit throws, all of it is undone and the error is passed on. While it
   * works, others hear `running` at once.
   */
  run(
    message: Message,
    terms: ClaimOptions,
    work: (tx: Tx, claim: Claim) => Promise<void>,
  ): Promise<RunResult>;
  /** For what `take` claimed: work and done mark in one transaction. False: the lease was lost, and all is undone. */
  finish(claim: Claim, work: (tx: Tx) => Promise<void>): Promise<boolean>;
  /** After `run` threw. False: it is done within the window, or claimed by another since, and nothing was written. */
  recordFailure(message: Message, failure: Failure, terms: AcceptOptions): Promise<boolean>;
}

export type RunResult = { readonly kind: "worked" } | Exclude<ClaimResult, { kind: "claimed" }>;

export interface DeadLetterStore {
  /** The newest first; `after` is the last one of the page before. */
  list(options: { readonly limit: number; readonly after?: DeadLetter }): Promise<DeadLetter[]>;
  count(): Promise<number>;
  /** To the inbox, due now, its failures forgotten. False: it is not a dead letter. */
  requeue(key: MessageKey): Promise<boolean>;
  /** A dead letter again, after `revive` and before somebody took it. False: it does not wait in the inbox. */
  undoRequeue(key: MessageKey): Promise<boolean>;
  /** Done without being handled. False: it is not a dead letter. */
  discard(key: MessageKey): Promise<boolean>;
}

export interface DeadLetter {
  readonly message: Message;
  readonly tries: number;
  readonly error: string;
  readonly diedAt: Date;
}
