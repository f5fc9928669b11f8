// What an operator finds by typing it: a thing by its id, what is of a type or about a subject, and a customer by id or name. So the
// answer to "I did not get invoice 4711" is two steps from any screen.
import type { Tenant } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import type { Place } from "./shell.tsx";
import { defineTexts, useTexts } from "./texts.ts";

const texts = defineTexts({
  en: {
    subject: (text: string) => `Events about ${text}`,
    events: (name: string) => `Events of ${name}`,
    type: (text: string) => `Events of the type ${text}`,
    tenant: (name: string) => `Tenant ${name}`,
    deliveries: (name: string) => `Deliveries to ${name}`,
  },
  de: {
    subject: (text: string) => `Ereignisse zu ${text}`,
    events: (name: string) => `Ereignisse von ${name}`,
    type: (text: string) => `Ereignisse vom Typ ${text}`,
    tenant: (name: string) => `Mandant ${name}`,
    deliveries: (name: string) => `Zustellungen an ${name}`,
  },
});

/** As many as a page of the server has: with more of them a customer is found by the whole id. */
const MOST_TENANTS = 250;
const MOST_FOUND = 3;
const LEAST_LETTERS = 2;

export function useFound(text: string): readonly Place[] {
  const t = useTexts(texts);
  const { data } = useQuery({
    queryKey: ["tenants", "by name"],
    queryFn: ({ signal }) => api.tenants.list({ query: { limit: MOST_TENANTS }, signal }),
    enabled: text.length >= LEAST_LETTERS,
    staleTime: 60_000,
  });
  const byId = placeOfId(text, t.deliveries);
  if (byId !== null) return [byId];
  if (text.length < LEAST_LETTERS) return [];
  const tenants = tenantsLike(text, data?.data ?? []);
  const areAllKnown = data !== undefined && data.next_cursor === null;
  const unknown = areAllKnown || tenants.length > 0 ? [] : [{ id: text, name: null }];
  return [
    ...[...tenants, ...unknown].flatMap(({ id, name }): Place[] => [
      { to: "/events", search: { tenant: id }, icon: "event", name: t.events(name ?? id) },
      { to: `/tenants/${encodeURIComponent(id)}`, icon: "tenant", name: t.tenant(name ?? id) },
    ]),
    ...(isLikeType(text)
      ? [{ to: "/events", search: { type: text }, icon: "event" as const, name: t.type(text) }]
      : []),
    { to: "/events", search: { subject: text }, icon: "event", name: t.subject(text) },
  ];
}

function tenantsLike(text: string, tenants: readonly Tenant[]): readonly Tenant[] {
  const wanted = text.toLowerCase();
  return tenants
    .filter(({ id, name }) => `${id}\n${name ?? ""}`.toLowerCase().includes(wanted))
    .slice(0, MOST_FOUND);
}

/** `order.paid`. */
function isLikeType(text: string): boolean {
  return /^\w+(\.\w+)+$/.test(text);
}

function placeOfId(text: string, deliveriesTo: (name: string) => string): Place | null {
  if (/^evt_[\w-]+$/.test(text)) return { to: `/events/${text}`, icon: "event", name: text };
  if (/^dlv_[\w-]+$/.test(text)) return { to: `/deliveries/${text}`, icon: "delivery", name: text };
  if (/^rpl_[\w-]+$/.test(text)) return { to: `/replays/${text}`, icon: "replay", name: text };
  if (/^ep_[\w-]+$/.test(text))
    return { to: "/deliveries", search: { endpoint: text }, icon: "endpoint", name: deliveriesTo(text) };
  return null;
}
