// A WebSub subscription: an endpoint that an anonymous subscriber registered, for as long as its lease lasts.
import type {
  AttemptOutcome,
  ClaimedDelivery,
  Event,
  OutcomeClass,
  PreparedRequest,
  RetryOn,
  Target,
} from "../../model.ts";
import type { AttemptMoment, AttemptServices, DestinationKind, SendableDelivery } from "../destination.ts";
import { attemptOverHttp, type HttpDestination, notSent } from "../http/attempt.ts";
import { classify } from "../http/classify.ts";
import { buildNotification, RENEWAL_GRACE_MS } from "./build-notification.ts";
import { type HubIdentity, type Subscription, subscriptionOf } from "./subscription.ts";

export class Subscriber implements HttpDestination {
  readonly mayStart = true;
  readonly allowedPerMinute = null;
  readonly isPublic = true;
  /** A topic is what it holds now; subscribers are not sent what it held before. */
  readonly acceptsReplays = false;
  /** A subscription lasts until its lease ends, whether or not notifications arrive (REC 7). */
  readonly isPermanent = false;
  readonly #subscription: Subscription;

  constructor(subscription: Subscription) {
    this.#subscription = subscription;
  }

  accepts({ createdAt }: Event): boolean {
    return this.#subscription.leaseEndsMs > createdAt.getTime();
  }

  attempt(
    delivery: ClaimedDelivery,
    target: Target,
    moment: AttemptMoment,
    services: AttemptServices,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    if (this.#subscription.leaseEndsMs + RENEWAL_GRACE_MS <= moment.startedAt.getTime()) return LEASE_ENDED;
    return attemptOverHttp(this, delivery, target, moment, services);
  }

  interpret(outcome: AttemptOutcome, retryOn: RetryOn): OutcomeClass {
    return classify(outcome, retryOn);
  }

  request(
    delivery: SendableDelivery,
    target: Target,
    moment: AttemptMoment,
    userAgent: string,
  ): PreparedRequest {
    return buildNotification(delivery, target, this.#subscription, moment, userAgent);
  }
}

const LEASE_ENDED = notSent("lease_ended", "not sent: the subscription had ended");

export function subscriberKind(hub: HubIdentity | null): DestinationKind {
  return (row) => {
    const subscription = subscriptionOf(row, hub);
    return subscription === null ? null : new Subscriber(subscription);
  };
}
