import type { Posthorn } from "posthorn";
import { hasScope, type Principal } from "../../principal.ts";

type EndpointView = Awaited<ReturnType<Posthorn["endpoints"]["get"]>>;

/** Returns what hides credentials in an endpoint's URL, headers and topic from callers that may not change it. */
export function redactedFor(principal: Principal): (endpoint: EndpointView) => EndpointView {
  return hasScope(principal, "webhooks:manage") ? (endpoint) => endpoint : redacted;
}

const REDACTED = "[redacted]";

function redacted(endpoint: EndpointView): EndpointView {
  const { url, headers, websub } = endpoint;
  return {
    ...endpoint,
    url: withoutQuery(url),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED])),
    websub: websub && { ...websub, topic: withoutQuery(websub.topic) },
  };
}

function withoutQuery(url: string): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : `${url.slice(0, mark + 1)}${REDACTED}`;
}
