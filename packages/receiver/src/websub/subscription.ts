// A subscription, and the contract of its store. Times are the store's own.
//
//            open                              hub confirms
//   absent ────────► due ──recordRequest──► requested ────────► verified ──(⅔ of the lease)──► due …
//     ▲               ▲                          │ deny ► denied ──(open)──► due
//     │               └───────(no response)──────┘
//     └── end ◄── requested to end ◄── close
//
// Every request is recorded before it is sent, and due again unless it succeeds: after a crash another process claims
// the row.

export interface Subscription {
  /** The last segment of the callback URL. Unguessable, because anyone who knows it can deny the subscription. */
  readonly id: string;
  /** The URL that was passed to `subscribe`. */
  readonly url: string;
  /** The secret that the hub signs with. */
  readonly secret: string;
  /** The request to send to the hub. */
  readonly mode: SubscriptionMode;
  /** The latest request to a hub; null if there was none. */
  readonly requested: HubTopic | null;
  /** Null if no hub has confirmed it, or one has denied it since. */
  readonly verified: (HubTopic & { readonly leaseEndsAt: Date }) | null;
  /** The hub's reason, which may be empty; null if it was not denied. */
  readonly denied: string | null;
  /** Requests since the last confirmation. */
  readonly attempts: number;
  /** The error of the last request, if it failed. */
  readonly error: string | null;
}

export type SubscriptionMode = "subscribe" | "unsubscribe";

export interface HubTopic {
  /** The topic's canonical URL. */
  readonly topic: string;
  readonly hub: string;
}

export interface SubscriptionStore {
  /** Returns the subscription of this URL, created if there is none. A denied or ending one is subscribed again and due now. */
  open(fresh: Pick<Subscription, "id" | "url" | "secret">): Promise<Subscription>;
  find(id: string): Promise<Subscription | null>;
  /** Ordered by URL; `after` is the last one of the previous page. */
  list(options: { readonly limit: number; readonly after?: string }): Promise<Subscription[]>;
  /** Marks it as ending and due now. Null if there is none. */
  close(url: string): Promise<Subscription | null>;

  /** Claims up to `limit` due subscriptions, or the one with this id; concurrent callers get different ones. Sets when each is due again. */
  claimDue(options: ClaimDueOptions): Promise<Subscription[]>;
  /** Called before a request is sent. Returns false if another mode is wanted by now. */
  recordRequest(id: string, mode: SubscriptionMode, hubTopic: HubTopic): Promise<boolean>;
  fail(id: string, error: string): Promise<void>;

  /** Null, without a change, if it was not requested or was confirmed longer ago than `graceMs`. */
  confirm(id: string, topic: string, options: ConfirmOptions): Promise<Subscription | null>;
  /** Deletes a subscription whose end was requested. Returns false if it was not. */
  end(id: string, topic: string): Promise<boolean>;
  /** Null if it is not about this topic. */
  deny(id: string, topic: string, reason: string): Promise<Subscription | null>;
  forget(id: string): Promise<void>;
}

export interface ClaimDueOptions {
  readonly limit: number;
  readonly id?: string;
  /** The delay until it is due again, doubled with each request up to the maximum. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

export interface ConfirmOptions {
  readonly leaseMs: number;
  readonly renewAfterMs: number;
  readonly graceMs: number;
}

export const MAX_DOUBLINGS = 20;
