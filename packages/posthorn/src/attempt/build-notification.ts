// A delivery to a WebSub subscriber: the topic's content as it is, and the headers that the recommendation has (REC 7).
import { createHmac } from "node:crypto";
import { formatId, headerNames } from "@posthorn/wire";
import type {
  Addressee,
  Event,
  PayloadFormat,
  PreparedRequest,
  Sendable,
  TargetSubscription,
} from "../model.ts";
import { atomEntry, atomFeed, FEED_CONTENT_TYPE } from "./atom-feed.ts";
import { type Content, contentOf } from "./content.ts";

/** Whoever holds the lane knows of a renewal in the last moment within this time; the fan-out knows at once. */
export const RENEWAL_GRACE_MS = 5_000;

export interface NotificationParts {
  readonly target: Addressee;
  readonly websub: TargetSubscription;
  /** Null: the subscriber gave none, and nothing is signed. */
  readonly secret: string | null;
  readonly userAgent: string;
  readonly traceparent: string | undefined;
}

export function buildNotification(delivery: Sendable, parts: NotificationParts): PreparedRequest {
  const { target, websub, secret, userAgent, traceparent } = parts;
  const { contentType = "application/octet-stream", body } = topicContent(delivery.event, target, websub);
  const names = headerNames(target.signature.headerPrefix);
  const headers: Record<string, string> = {
    "content-type": contentType,
    "user-agent": userAgent,
    link: websub.link,
    [names.id]: formatId("evt", delivery.event.id),
    [names.deliveryId]: formatId("dlv", delivery.id),
    [names.attempt]: String(delivery.attempts + 1),
  };
  if (traceparent !== undefined) headers.traceparent = traceparent;
  if (secret !== null) {
    const { signatureMethod: method } = websub;
    headers["x-hub-signature"] = `${method}=${createHmac(method, secret).update(body).digest("hex")}`;
  }
  const { tenant, url, timeoutMs } = target;
  return { tenant, url, headers, body, timeoutMs, isForStranger: true };
}

/** What is sent of an event, once for all who follow its topic: a megabyte to hundreds at a time is a megabyte. */
const made = new WeakMap<Event, Map<PayloadFormat | "feed", Content>>();

function topicContent(event: Event, target: Addressee, { feed }: TargetSubscription): Content {
  const known = made.get(event) ?? new Map<PayloadFormat | "feed", Content>();
  made.set(event, known);
  const shape = feed === null ? target.format : "feed";
  const content = known.get(shape) ?? (feed === null ? contentOf(event, target) : feedOf(event, feed));
  known.set(shape, content);
  return content;
}

/** Only what is new: subscribers know the entries before it (REC 7). */
function feedOf(event: Event, feed: NonNullable<TargetSubscription["feed"]>): Content {
  const { tenant, type, createdAt } = event;
  return {
    contentType: FEED_CONTENT_TYPE,
    body: atomFeed([atomEntry(event)], { ...feed, tenant, type, updatedAt: createdAt }),
  };
}
