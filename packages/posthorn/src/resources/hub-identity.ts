// Who the WebSub hub is to those it sends to: its URL, and how it signs.
import type { HubSignatureMethod, TargetSubscription } from "../model.ts";
import type { EndpointRow } from "../storage/queries/endpoints/endpoint-row.ts";

export interface HubIdentity {
  readonly hubUrl: string;
  readonly signatureMethod: HubSignatureMethod;
}

/** Owns the subscriptions to topics of others, and the events that are made of their content. */
export const EXTERNAL_TENANT = "posthorn.websub";

/** While there is no hub its subscriptions are over: nothing is distributed. */
export function targetSubscription(
  { websubTopic, leaseEndsMs }: Pick<EndpointRow, "websubTopic" | "leaseEndsMs">,
  hub: HubIdentity | null,
): TargetSubscription | null {
  if (websubTopic === null) return null;
  if (hub === null) return { link: "", signatureMethod: "sha256", leaseEndsMs: 0 };
  return {
    link: discoveryLink(hub.hubUrl, websubTopic),
    signatureMethod: hub.signatureMethod,
    leaseEndsMs: leaseEndsMs ?? 0,
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
