// A WebSub subscription: an endpoint that an anonymous subscriber registered, for as long as its lease lasts.
import { notSent } from "../../model.ts";
import type { Destination, DestinationKind } from "../destination.ts";
import { httpDestination } from "../http/http-destination.ts";
import { buildNotification, RENEWAL_GRACE_MS, type Subscription } from "./build-notification.ts";
import type { HubConfig } from "./options.ts";
import { FEED_QUERY, OWN_TOPIC_FORMAT } from "./topics.ts";
import { discoveryLink } from "./urls.ts";

function subscriber(subscription: Subscription): Destination {
  const { leaseEndsMs } = subscription;
  const destination = httpDestination({
    isPublic: true,
    // a topic represents its current content, so earlier events are not sent to subscribers
    acceptsReplays: false,
    // failures never disable a subscription: it stays active until its lease expires or the receiver returns 410 (REC 7)
    isPermanent: false,
    accepts: ({ createdAt }) => leaseEndsMs > createdAt.getTime(),
    request: (...parameters) => buildNotification(subscription, ...parameters),
  });
  return {
    ...destination,
    attempt(delivery, target, moment, services) {
      if (leaseEndsMs + RENEWAL_GRACE_MS <= moment.startedAt.getTime()) return LEASE_EXPIRED;
      return destination.attempt(delivery, target, moment, services);
    },
  };
}

const LEASE_EXPIRED = notSent({ error: "lease_expired", detail: "not sent: the subscription had ended" });

export function subscriberKind(hub: HubConfig | null): DestinationKind {
  return ({ websubTopic, leaseEndsMs, format }) => {
    if (websubTopic === null) return null;
    // without a hub, subscriptions have ended: nothing is distributed
    if (hub === null) return subscriber({ link: "", signatureMethod: "sha256", leaseEndsMs: 0, feed: null });
    const { hubUrl, signatureMethod } = hub;
    const isOwnFeed = format === OWN_TOPIC_FORMAT && websubTopic.endsWith(FEED_QUERY);
    return subscriber({
      link: discoveryLink(hubUrl, websubTopic),
      signatureMethod,
      leaseEndsMs: leaseEndsMs ?? 0,
      feed: isOwnFeed ? { hubUrl, topicUrl: websubTopic } : null,
    });
  };
}
