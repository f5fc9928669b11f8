// The subscriber's options: type, meaning and default in one place, parsed once.

import { errorLine } from "../handle/decide-failure.ts";
import { print } from "../hooks/console-hooks.ts";
import { callHook } from "../hooks/hooks.ts";
import { rejectUnknownOptions, wholeNumber } from "../options.ts";
import type { Store } from "../store.ts";
import type { Fetch, HttpOptions } from "./http.ts";
import { httpUrl } from "./link-header.ts";
import type { Subscription } from "./subscription.ts";

export interface SubscriberOptions {
  /** The public base URL of the callbacks, such as `https://example.com/websub`; route everything below it to the subscriber. */
  readonly callbackUrl: string;
  /** The receiver's store: `postgresStore(pool)`, or `memoryStore()` for tests. */
  readonly store: Pick<Store, "subscriptions">;
  /** The name of the source, part of every message's key. Default `websub`. */
  readonly name?: string | undefined;
  /** The lease to request; the hub decides. Default 864 000, ten days. */
  readonly leaseSeconds?: number | undefined;
  /** The header that identifies a hub's delivery, `X-Webhook-Id` for Posthorn. It is not signed. Default: none, the content decides. */
  readonly idHeader?: string | undefined;
  /** The time limit of a request to a topic or hub, including the body. Default 10 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How often `start()` polls for due subscriptions. Default 10 000. */
  readonly pollMs?: number | undefined;
  /** Sends the requests to topics and hubs. Pass a guarded one if untrusted users choose the topics. Default: the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** A hub confirmed a subscription or its renewal. */
  readonly onVerified?: ((subscription: Subscription) => unknown) | undefined;
  /** A hub denied or ended a subscription: nothing arrives until you subscribe again. Default: prints to the console; null disables that. */
  readonly onDenied?: ((subscription: Subscription) => unknown) | null | undefined;
  /** A request to a hub or topic failed and will be retried, or the store was unavailable. Default: prints to the console; null disables that. */
  readonly onFailure?: ((error: unknown, subscription: Subscription | null) => unknown) | null | undefined;
}

export const subscriberOptionNames = [
  "callbackUrl",
  "store",
  "name",
  "leaseSeconds",
  "idHeader",
  "requestTimeoutMs",
  "pollMs",
  "fetch",
  "onVerified",
  "onDenied",
  "onFailure",
] as const satisfies readonly (keyof SubscriberOptions)[];

export type SubscriptionHooks = ReturnType<typeof hooksOf>;

export type SubscriberSettings = ReturnType<typeof readSubscriberOptions>;

const YEAR_SECONDS = 365 * 86_400;

export function readSubscriberOptions(options: SubscriberOptions) {
  rejectUnknownOptions("createSubscriber", options, subscriberOptionNames);
  const { store, callbackUrl, name = "websub", idHeader = null } = options;
  if (store?.subscriptions === undefined) {
    throw new TypeError(
      "createSubscriber needs a `store` that supports subscriptions: postgresStore(pool), or memoryStore() for tests. The SQLite and Redis stores do not.",
    );
  }
  if (typeof callbackUrl !== "string" || httpUrl(callbackUrl) === null || /[?#]/.test(callbackUrl)) {
    throw new TypeError(
      "`callbackUrl` is a whole URL without a query, such as https://example.com/websub: where hubs reach you.",
    );
  }
  return {
    // Without a trailing slash.
    callbackUrl: callbackUrl.replace(/\/+$/, ""),
    store: store.subscriptions,
    name,
    leaseSeconds: wholeNumber("leaseSeconds", options.leaseSeconds ?? 864_000, 1, YEAR_SECONDS),
    idHeader,
    http: {
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      timeoutMs: wholeNumber("requestTimeoutMs", options.requestTimeoutMs ?? 10_000, 1, 600_000),
    } satisfies HttpOptions,
    pollMs: wholeNumber("pollMs", options.pollMs ?? 10_000, 10, 3_600_000),
    hooks: hooksOf(options),
  };
}

/** They never throw, and their promises are not awaited. */
function hooksOf({ onVerified, onDenied = printDenial, onFailure = printFailure }: SubscriberOptions) {
  return {
    onVerified: (subscription: Subscription) => callHook(() => onVerified?.(subscription)),
    onDenied: (subscription: Subscription) => callHook(() => onDenied?.(subscription)),
    onFailure: (error: unknown, subscription: Subscription | null) =>
      callHook(() => onFailure?.(error, subscription)),
  };
}

function printDenial({ url, denied }: Subscription): void {
  print("error", `the hub denied the subscription of ${url}${denied === "" ? "" : `: ${denied}`}`);
}

function printFailure(error: unknown, subscription: Subscription | null): void {
  print(
    "error",
    `${subscription === null ? "" : `${subscription.url} is not subscribed yet, or not renewed: `}${errorLine(error)}`,
  );
}
