// Builds a notification to a WebSub subscriber: the topic's content and the headers of the recommendation (REC 7).
import { createHmac } from "node:crypto";
import { formatId, headerNames } from "@posthorn/wire";
import type { Content } from "../../formats/format.ts";
import { contentOf } from "../../formats/formats.ts";
import type { Event, HubSignatureMethod, PayloadFormat, PreparedRequest, Target } from "../../model.ts";
import type { AttemptMoment, SendableDelivery } from "../destination.ts";
import { validSecrets } from "../webhook/sign.ts";
import { atomEntry, atomFeed, FEED_CONTENT_TYPE } from "./atom-feed.ts";
import { TOPIC_CONTEXT } from "./topics.ts";

/** The parts of a subscription that its notifications need. */
export interface Subscription {
  /** `Link` to the hub and the topic, in one header. */
  readonly link: string;
  readonly signatureMethod: HubSignatureMethod;
  /** By the database's clock; nothing is distributed from then on. */
  readonly leaseEndsMs: number;
  /** Null if the topic is not a feed: its content is sent as it is. */
  readonly feed: { readonly hubUrl: string; readonly topicUrl: string } | null;
}

/** How late a lane's owner may learn of a renewal; the fan-out knows at once. */
export const RENEWAL_GRACE_MS = 5_000;

/** Signed only if the subscriber gave a secret. */
export function buildNotification(
  subscription: Subscription,
  delivery: SendableDelivery,
  target: Target,
  { startedAt, traceparent }: AttemptMoment,
  userAgent: string,
): PreparedRequest {
  const { contentType = "application/octet-stream", body } = topicContent(
    delivery.event,
    target,
    subscription,
  );
  const names = headerNames(target.signature.headerPrefix);
  const headers: Record<string, string> = {
    "content-type": contentType,
    "user-agent": userAgent,
    link: subscription.link,
    [names.id]: formatId("evt", delivery.event.id),
    [names.deliveryId]: formatId("dlv", delivery.id),
    [names.attempt]: String(delivery.attempts + 1),
  };
  if (traceparent !== undefined) headers.traceparent = traceparent;
  const [secret] = validSecrets(target.secrets, startedAt).shared;
  if (secret !== undefined) {
    const { signatureMethod: method } = subscription;
    headers["x-hub-signature"] = `${method}=${createHmac(method, secret).update(body).digest("hex")}`;
  }
  const { tenant, url, timeoutMs } = target;
  return { tenant, url, headers, body, timeoutMs, isUntrusted: true };
}

/** Content by event and format, shared by all subscribers: a megabyte for hundreds of them is in memory once. */
const made = new WeakMap<Event, Map<PayloadFormat | "feed", Content>>();

function topicContent(event: Event, target: Target, { feed }: Subscription): Content {
  const known = made.get(event) ?? new Map<PayloadFormat | "feed", Content>();
  made.set(event, known);
  const shape = feed === null ? target.format : "feed";
  const content =
    known.get(shape) ??
    (feed === null
      ? contentOf(event, { format: target.format, formatContext: TOPIC_CONTEXT })
      : feedOf(event, feed));
  known.set(shape, content);
  return content;
}

/** Contains only the new entry: subscribers have the earlier ones (REC 7). */
function feedOf(event: Event, feed: NonNullable<Subscription["feed"]>): Content {
  const { tenant, type, createdAt } = event;
  return {
    contentType: FEED_CONTENT_TYPE,
    body: atomFeed([atomEntry(event)], { ...feed, tenant, type, updatedAt: createdAt }),
  };
}
