// Finds out from its URL whether a topic belongs to one of our tenants or is external.
import { maxTypeLength, reservedTenant, tenantSyntax, typeSyntax } from "../../event/limits.ts";
import { matches, SYSTEM_TYPE_PREFIX } from "../../fan-out/matches.ts";
import type { HubConfig } from "./options.ts";
import { comparable, topicHash } from "./urls.ts";

/** Our own topics contain envelopes; external content is passed on unchanged. */
export const OWN_TOPIC_FORMAT = "envelope";
/** A topic has the same content for every subscriber, whatever the defaults of endpoints. */
export const TOPIC_CONTEXT = { source: "", datarefBase: "" };

/** Query of a topic's URL for the same events as a feed. */
export const FEED_QUERY = "?format=atom";

interface OwnTopic {
  readonly kind: "own";
  readonly url: string;
  readonly tenant: string;
  readonly type: string;
  /** The topic's content: the event's envelope, or the publisher's own bytes. */
  readonly format: "envelope" | "data";
}

export interface ExternalTopic extends Omit<OwnTopic, "kind"> {
  readonly kind: "external";
  readonly hash: string;
}

export type Topic = OwnTopic | ExternalTopic;

/**
 * Returns null if the hub does not serve the topic. Whether a tenant offers its own topic is stored in the database.
 */
export function topicOf(
  url: string,
  { topicsUrl, externalTopics }: Pick<HubConfig, "topicsUrl" | "externalTopics">,
): Topic | null {
  const text = comparable(url);
  const own = comparable(topicsUrl);
  if (text.startsWith(own)) return ownTopic(text.slice(own.length), topicsUrl);
  const isServed = externalTopics.some((begin) => begin === "*" || text.startsWith(comparable(begin)));
  if (!isServed) return null;
  const hash = topicHash(url);
  return { kind: "external", url, tenant: reservedTenant, type: `websub.${hash}`, format: "data", hash };
}

/** The form of our own topics, according to the URL: the newest event, or a feed of the newest ones. */
export type TopicShape = "envelope" | "atom";

function ownTopic(pathAndQuery: string, topicsUrl: string): Topic | null {
  const shape: TopicShape = pathAndQuery.endsWith(FEED_QUERY) ? "atom" : "envelope";
  const path = shape === "atom" ? pathAndQuery.slice(0, -FEED_QUERY.length) : pathAndQuery;
  const parts = path.split("/");
  const [tenant, type] = parts.map(decoded);
  if (parts.length !== 2 || tenant === undefined || type === undefined) return null;
  if (!tenantSyntax.test(tenant) || !typeSyntax.test(type) || type.length > maxTypeLength) return null;
  return {
    kind: "own",
    url: ownTopicUrl(topicsUrl, { tenant, type, shape }),
    tenant,
    type,
    format: OWN_TOPIC_FORMAT,
  };
}

export function ownTopicUrl(
  topicsUrl: string,
  { tenant, type, shape }: { readonly tenant: string; readonly type: string; readonly shape: TopicShape },
): string {
  const url = `${topicsUrl}${encodeURIComponent(tenant)}/${encodeURIComponent(type)}`;
  return shape === "atom" ? url + FEED_QUERY : url;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Posthorn's own events are never open. */
export function isOpenTopic(openTypes: readonly string[], type: string): boolean {
  return !type.startsWith(SYSTEM_TYPE_PREFIX) && matches(openTypes, type);
}
