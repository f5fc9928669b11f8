// What is followed, and what a store has to keep of it. The times are the store's own.
//
//            open                  hub confirms: confirm
//   absent ────────► to ask ──ask──► asked ─────────────► verified ──(⅔ of the lease)──► to ask …
//     ▲                 ▲              │ deny ► denied ──(open)──► to ask
//     │                 └─(no answer)──┘
//     └── end ◄── asked to end ◄── close
//
// Every step is written before it is taken, and each is due again unless it succeeds: a process that dies in between
// leaves a row that another takes.

export interface Subscription {
  /** Unguessable, since whoever knows the callback can deny the subscription: the last segment of its URL. */
  readonly id: string;
  /** As it was given to `subscribe`. */
  readonly url: string;
  /** What the hub signs with. */
  readonly secret: string;
  /** What is wanted of the hub. */
  readonly mode: SubscriptionMode;
  /** The newest request to a hub; null: none was made yet. */
  readonly requested: HubTopic | null;
  /** Null: no hub has ever confirmed it, or one has denied it since. */
  readonly verified: (HubTopic & { readonly leaseEndsAt: Date }) | null;
  /** The hub's reason, which may be empty; null: it was not denied. */
  readonly denied: string | null;
  /** Requests since it was confirmed last. */
  readonly tries: number;
  /** What became of the last one, when it failed. */
  readonly error: string | null;
}

export type SubscriptionMode = "subscribe" | "unsubscribe";

export interface HubTopic {
  /** The canonical URL of what is followed. */
  readonly topic: string;
  readonly hub: string;
}

export interface SubscriptionStore {
  /** The one of this URL, made from this when there is none. One that was denied, or is to end, is wanted again and due now. */
  open(fresh: Pick<Subscription, "id" | "url" | "secret">): Promise<Subscription>;
  find(id: string): Promise<Subscription | null>;
  /** By their URLs, in that order; `after` is the last one of the page before. */
  list(options: { readonly limit: number; readonly after?: string }): Promise<Subscription[]>;
  /** It is to end, and due now. Null: there is none. */
  close(url: string): Promise<Subscription | null>;

  /** Up to `limit` that are due, or the one that is named if it is; of any number of callers one gets each. Due again later, by their tries. */
  claimDue(terms: ClaimDueOptions): Promise<Subscription[]>;
  /** Written before a hub is asked. False: something else is wanted by now. */
  recordRequest(id: string, mode: SubscriptionMode, hubTopic: HubTopic): Promise<boolean>;
  fail(id: string, error: string): Promise<void>;

  /** Null, and nothing is written: that was not asked for, or was confirmed longer ago than `graceMs`. */
  confirm(id: string, topic: string, terms: ConfirmOptions): Promise<Subscription | null>;
  /** Forgets one whose end was asked for. False: it was not. */
  end(id: string, topic: string): Promise<boolean>;
  /** Null: it is not about this topic. */
  deny(id: string, topic: string, reason: string): Promise<Subscription | null>;
  forget(id: string): Promise<void>;
}

export interface ClaimDueOptions {
  readonly limit: number;
  readonly id?: string;
  /** How long until it is due again: doubled with each try, up to the maximum. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

export interface ConfirmOptions {
  readonly leaseMs: number;
  readonly renewAfterMs: number;
  readonly graceMs: number;
}

export const MAX_DOUBLINGS = 20;
