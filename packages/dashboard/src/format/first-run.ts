// Progress of a new installation, derived from its resources.
import type { Endpoint, Event, EventType, Tenant } from "@posthorn/client";

export interface Found {
  readonly hasSink: boolean;
  readonly tenants: readonly Pick<Tenant, "id">[];
  /** Newest first. */
  readonly endpoints: readonly Endpoint[];
  /** Newest first. */
  readonly events: readonly Event[];
}

/**
 * `sink` is the endpoint at this server's built-in sink, `own` the newest other one, `tenant` the one to publish for, and
 * `sent` the newest published event, preferably of this tenant. Each is null if there is none yet.
 */
export function progressOf({ hasSink, tenants, endpoints, events }: Found) {
  const sink = (hasSink && endpoints.find(({ url }) => isSinkUrl(url))) || null;
  const own = endpoints.find(({ url }) => !isSinkUrl(url)) ?? null;
  const tenant = (sink ?? own)?.tenant ?? tenants[0]?.id ?? null;
  const published = events.filter(isPublished);
  // a later event of another tenant must not reset a step
  const sent = published.find((event) => event.tenant === tenant) ?? published[0] ?? null;
  return { sink, own, tenant, sent };
}

/** Types starting with `webhook.` are Posthorn's own: test events and notifications. */
export function isPublished({ type }: Pick<Event, "type">): boolean {
  return !type.startsWith("webhook.");
}

function isSinkUrl(url: string): boolean {
  return /\/sink\/[^/]+$/.test(new URL(url).pathname);
}

export interface Example {
  readonly type: string;
  readonly data: unknown;
}

/** The example of the first event type that has one: a strict catalogue rejects other types. */
export function exampleOf(catalogue: readonly EventType[]): Example {
  const type = catalogue.find(({ example }) => example !== null && example !== undefined) ?? catalogue[0];
  if (type !== undefined) return { type: type.name, data: type.example ?? {} };
  return { type: "order.paid", data: { order: 1, total: 19.9, currency: "EUR" } };
}

/** The curl command that publishes the example. The key stays a variable: the page does not know it. */
export function publishCommand(baseUrl: string, tenant: string, { type, data }: Example): string {
  const body = JSON.stringify({ tenant, type, data }).replaceAll("'", "\\u0027");
  return [
    `curl ${baseUrl}/api/v1/events`,
    '-H "Authorization: Bearer $POSTHORN_API_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${body}'`,
  ].join(" \\\n  ");
}
