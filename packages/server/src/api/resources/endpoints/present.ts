import { definitionOf, SETTING_NAMES, SETTINGS_SCOPE } from "@posthorn/wire";
import type { Posthorn } from "posthorn";
import { hasScope, type Principal } from "../../principal.ts";

type EndpointView = Awaited<ReturnType<Posthorn["endpoints"]["get"]>>;

/**
 * Returns a function that redacts credentials in an endpoint's URL, headers and topic, unless the caller may change the
 * endpoint.
 */
export function redactedFor(principal: Principal): (endpoint: EndpointView) => EndpointView {
  return hasScope(principal, SETTINGS_SCOPE) ? (endpoint) => endpoint : redacted;
}

const REDACTED = "[redacted]";

function redacted(endpoint: EndpointView): EndpointView {
  const settings = SETTING_NAMES.flatMap((name) => {
    const { redacted: part } = definitionOf(name);
    if (part === undefined) return [];
    return [[name, part === "query" ? withoutQuery(endpoint[name]) : withoutValues(endpoint[name])]];
  });
  const { websub } = endpoint;
  return {
    ...endpoint,
    ...Object.fromEntries(settings),
    websub: websub && { ...websub, topic: withoutQuery(websub.topic) },
  };
}

function withoutQuery(value: unknown): string {
  const url = String(value);
  const mark = url.indexOf("?");
  return mark === -1 ? url : `${url.slice(0, mark + 1)}${REDACTED}`;
}

function withoutValues(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.keys(value as object).map((name) => [name, REDACTED]));
}
