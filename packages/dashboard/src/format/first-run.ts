// How far a new installation has come, from what it has.
import type { Endpoint, Event, EventType, Tenant } from "@posthorn/client";

export interface Found {
  readonly hasSink: boolean;
  readonly tenants: readonly Pick<Tenant, "id">[];
  /** Newest first. */
  readonly endpoints: readonly Endpoint[];
  /** Newest first. */
  readonly events: readonly Event[];
}

export interface Progress {
  /** The endpoint that leads to this server's own sink. */
  readonly sink: Endpoint | null;
  /** The newest one that leads elsewhere. */
  readonly own: Endpoint | null;
  /** Whose event is sent; null: there is no tenant yet. */
  readonly tenant: string | null;
  /** The newest one that somebody published, of that tenant where there is one. */
  readonly sent: Event | null;
}

export function progressOf({ hasSink, tenants, endpoints, events }: Found): Progress {
  const sink = (hasSink && endpoints.find(({ url }) => isSinkUrl(url))) || null;
  const own = endpoints.find(({ url }) => !isSinkUrl(url)) ?? null;
  const tenant = (sink ?? own)?.tenant ?? tenants[0]?.id ?? null;
  const published = events.filter(isPublished);
  // a later one of somebody else's takes no tick back
  const sent = published.find((event) => event.tenant === tenant) ?? published[0] ?? null;
  return { sink, own, tenant, sent };
}

/** Types that begin with `webhook.` are Posthorn's own: tests, and what it tells of itself. */
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

/** With a catalogue only what is in it is taken; an example of the first one there has one. */
export function exampleOf(catalogue: readonly EventType[]): Example {
  const type = catalogue.find(({ example }) => example !== null && example !== undefined) ?? catalogue[0];
  if (type !== undefined) return { type: type.name, data: type.example ?? {} };
  return { type: "order.paid", data: { order: 1, total: 19.9, currency: "EUR" } };
}

/** The same as a command. The key stays a variable: a page that showed one would have to know it. */
export function publishCommand(baseUrl: string, tenant: string, { type, data }: Example): string {
  const body = JSON.stringify({ tenant, type, data }).replaceAll("'", "\\u0027");
  return [
    `curl ${baseUrl}/api/v1/events`,
    '-H "Authorization: Bearer $POSTHORN_API_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${body}'`,
  ].join(" \\\n  ");
}
