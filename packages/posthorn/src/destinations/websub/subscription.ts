// A subscription as its notifications need it: the hub's URL, the topic and the signature method.
import type { HubSignatureMethod } from "../../model.ts";
import type { EndpointRow } from "../../storage/queries/endpoints/endpoint-row.ts";

export interface HubIdentity {
  readonly hubUrl: string;
  readonly signatureMethod: HubSignatureMethod;
}

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

/** Our own topics contain envelopes; external content is passed on unchanged. */
export const OWN_TOPIC_FORMAT = "envelope";

/** Query of a topic's URL for the same events as a feed. */
export const FEED_QUERY = "?format=atom";

/** Without a hub, subscriptions have ended: nothing is distributed. */
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

/** Both links in one header, because some subscribers read only the first header (REC 4.1, 7). */
export function discoveryLink(hubUrl: string, topic: string): string {
  return `<${hubUrl}>; rel="hub", <${linkTarget(topic)}>; rel="self"`;
}

/** The topic is repeated as written, except for characters that would end the reference or break the header. */
function linkTarget(topic: string): string {
  return topic.replaceAll(/[<>"\s]|[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
}
