// Sends due requests to hubs: new subscriptions, renewals, ends and retries. Each is recorded before it is sent, and due again
// unless the hub confirms it, so another process continues after a crash.
import { errorLine } from "../handle/decide-failure.ts";
import { PollLoop, type Service } from "../service.ts";
import { discover } from "./discover.ts";
import type { SubscriberSettings } from "./options.ts";
import { requestSubscription } from "./request-subscription.ts";
import type { HubTopic, Subscription } from "./subscription.ts";

/** Hubs verify within seconds, and some are unavailable for hours. */
const RETRIES = { firstDelayMs: 60_000, maxDelayMs: 6 * 3_600_000 };
const AT_ONCE = 10;
/** About 15 hours for an end that no hub confirms. Content is rejected meanwhile. */
const MAX_ATTEMPTS_TO_END = 10;

export class Renewer implements Service {
  readonly #settings: SubscriberSettings;
  readonly #loop = new PollLoop("subscriber", () => this.#step());

  constructor(settings: SubscriberSettings) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    await this.#loop.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
  }

  /** Sends the request if it is due. Returns the subscription afterwards; null if it was deleted. */
  async requestNow(id: string): Promise<Subscription | null> {
    const { store } = this.#settings;
    for (const due of await store.claimDue({ limit: 1, id, ...RETRIES })) await this.#request(due);
    return store.find(id);
  }

  async renewDue(): Promise<number> {
    let requested = 0;
    while (!this.#loop.isStopped) {
      const due = await this.#settings.store.claimDue({ limit: AT_ONCE, ...RETRIES });
      await Promise.all(due.map((subscription) => this.#request(subscription)));
      requested += due.length;
      if (due.length < AT_ONCE) break;
    }
    return requested;
  }

  async #step(): Promise<number> {
    await this.renewDue().catch((error) => this.#settings.hooks.onFailure(error, null));
    return this.#settings.pollMs;
  }

  /** Failed requests are stored and reported, not thrown; only errors of the store are thrown. */
  async #request(subscription: Subscription): Promise<void> {
    const { store, hooks, http, callbackUrl, leaseSeconds } = this.#settings;
    const { id, mode } = subscription;
    if (isExpired(subscription)) return store.forget(id);
    try {
      const hubTopic = await this.#hubTopicOf(subscription);
      if (!(await store.recordRequest(id, mode, hubTopic))) return;
      await requestSubscription(subscription, hubTopic, {
        ...http,
        callback: `${callbackUrl}/${id}`,
        leaseSeconds,
      });
    } catch (error) {
      hooks.onFailure(error, subscription);
      await store.fail(id, errorLine(error));
    }
  }

  /** Discovered again each time: a topic moves by redirecting, and subscribers follow when they renew. */
  async #hubTopicOf({ url, mode, requested, verified, attempts }: Subscription): Promise<HubTopic> {
    const known = verified ?? requested;
    if (mode === "unsubscribe" && known !== null) return known;
    try {
      const { topic, hubs } = await discover(url, this.#settings.http);
      return { topic, hub: hubs[(attempts - 1) % hubs.length] ?? hubs[0] };
    } catch (error) {
      // A page that is unavailable must not end a subscription that its hub still knows.
      if (verified === null) throw error;
      return verified;
    }
  }
}

/** The subscription should end, and there is no hub to ask, or none that responds. */
function isExpired({ mode, requested, verified, attempts }: Subscription): boolean {
  if (mode !== "unsubscribe") return false;
  const hasLapsed = verified !== null && verified.leaseEndsAt.getTime() < Date.now();
  return (requested === null && verified === null) || hasLapsed || attempts > MAX_ATTEMPTS_TO_END;
}
