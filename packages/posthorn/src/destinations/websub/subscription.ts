// Who the WebSub hub is to those it sends to: its URL, and how it signs.
import type { HubSignatureMethod } from "../../model.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/endpoint-row.ts";

export interface HubIdentity {
  readonly hubUrl: string;
  readonly signatureMethod: HubSignatureMethod;
}

/** The parts of a subscription that its notifications need. */
export interface Subscription {
  /** `Link` to the hub and to the topic, in one header. */
  readonly link: string;
  readonly signatureMethod: HubSignatureMethod;
  /** By the database's clock; nothing is distributed from then on. */
  readonly leaseEndsMs: number;
  /** Null if the topic is not a feed: its content is sent as it is. */
  readonly feed: { readonly hubUrl: string; readonly topicUrl: string } | null;
}

/** Topics of our own are made of envelopes; those of others are passed on as they are. */
export const OWN_TOPIC_FORMAT = "envelope";

/** Behind the URL of a topic of our own: the same events as a feed. */
export const FEED_QUERY = "?format=atom";

/** While there is no hub its subscriptions are over: nothing is distributed. */
export function subscriptionOf(
  { websubTopic, leaseEndsMs, format }: Pick<EndpointRow, "websubTopic" | "leaseEndsMs" | "format">,
  hub: HubIdentity | null,
): Subscription | null {
  if (websubTopic === null) return null;
  if (hub === null) return { link: "", signatureMethod: "sha256", leaseEndsMs: 0, feed: null };
  const isOwnFeed = format === OWN_TOPIC_FORMAT && websubTopic.endsWith(FEED_QUERY);
  return {
    link: discoveryLink(hub.hubUrl, websubTopic),
    signatureMethod: hub.signatureMethod,
    leaseEndsMs: leaseEndsMs ?? 0,
    feed: isOwnFeed ? { hubUrl: hub.hubUrl, topicUrl: websubTopic } : null,
  };
}

/** Both in one header: there are subscribers that read only the first (REC 4.1, 7). */
export function discoveryLink(hubUrl: string, topic: string): string {
  return `<${hubUrl}>; rel="hub", <${linkTarget(topic)}>; rel="self"`;
}

/** A topic is repeated as it was written, but for what would end the reference or break the header. */
function linkTarget(topic: string): string {
  return topic.replaceAll(/[<>"\s]|[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
}
