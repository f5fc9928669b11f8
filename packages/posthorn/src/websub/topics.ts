// Whose a topic is, by its URL: of one of our tenants, or of somebody else whom the hub serves.
import { maxTypeLength, tenantSyntax, typeSyntax } from "../event/limits.ts";
import { EXTERNAL_TENANT } from "../resources/hub-identity.ts";
import type { HubConfig } from "./options.ts";
import { comparable, topicHash } from "./urls.ts";

interface TopicFields {
  readonly url: string;
  readonly tenant: string;
  readonly type: string;
  /** What the topic holds: the event and what is known of it, or the publisher's own bytes. */
  readonly format: "envelope" | "data";
}

export interface OwnTopic extends TopicFields {
  readonly kind: "own";
}

export interface ExternalTopic extends TopicFields {
  readonly kind: "external";
  readonly hash: string;
}

export type Topic = OwnTopic | ExternalTopic;

export const OWN_FORMAT = "envelope";

/** Null: the hub does not serve it. Whether a tenant has opened its own is for the database to say. */
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
  return { kind: "external", url, tenant: EXTERNAL_TENANT, type: `websub.${hash}`, format: "data", hash };
}

function ownTopic(path: string, topicsUrl: string): Topic | null {
  const parts = path.split("/");
  const [tenant, type] = parts.map(decoded);
  if (parts.length !== 2 || tenant === undefined || type === undefined) return null;
  if (!tenantSyntax.test(tenant) || !typeSyntax.test(type) || type.length > maxTypeLength) return null;
  return { kind: "own", url: ownTopicUrl(topicsUrl, tenant, type), tenant, type, format: OWN_FORMAT };
}

export function ownTopicUrl(topicsUrl: string, tenant: string, type: string): string {
  return `${topicsUrl}${encodeURIComponent(tenant)}/${encodeURIComponent(type)}`;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
