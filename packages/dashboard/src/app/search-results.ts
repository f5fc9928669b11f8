// Search results of the operator's palette: resources by id, events by type or subject, tenants by id or name.
import type { Tenant } from "@posthorn/client";
import { useApi } from "../api/use-api.ts";
import type { NavigationItem } from "./shell.tsx";
import { defineTexts } from "./texts.ts";

const t = defineTexts({
  subject: ["Events with subject {text}", "Ereignisse mit Subject {text}"],
  events: ["Events of {name}", "Ereignisse von {name}"],
  type: ["Events of type {text}", "Ereignisse vom Typ {text}"],
  tenant: ["Tenant {name}", "Mandant {name}"],
  deliveries: ["Deliveries to {name}", "Zustellungen an {name}"],
});

/** The API's page limit. Tenants beyond the first page are found only by their full id. */
const MAX_TENANTS = 250;
const MAX_RESULTS = 3;
const MIN_LETTERS = 2;

export function useSearchResults(text: string): readonly NavigationItem[] {
  const { data } = useApi(
    "tenants.list",
    { query: { limit: MAX_TENANTS } },
    { enabled: text.length >= MIN_LETTERS, staleTime: 60_000 },
  );
  const byId = itemForId(text);
  if (byId !== null) return [byId];
  if (text.length < MIN_LETTERS) return [];
  const tenants = matchingTenants(text, data?.data ?? []);
  const areAllKnown = data !== undefined && data.next_cursor === null;
  const unknown = areAllKnown || tenants.length > 0 ? [] : [{ id: text, name: null }];
  return [
    ...[...tenants, ...unknown].flatMap(({ id, name }): NavigationItem[] => [
      { to: "/events", search: { tenant: id }, icon: "event", name: t.events({ name: name ?? id }) },
      { to: `/tenants/${encodeURIComponent(id)}`, icon: "tenant", name: t.tenant({ name: name ?? id }) },
    ]),
    ...(looksLikeType(text)
      ? [{ to: "/events", search: { type: text }, icon: "event" as const, name: t.type({ text }) }]
      : []),
    { to: "/events", search: { subject: text }, icon: "event", name: t.subject({ text }) },
  ];
}

function matchingTenants(text: string, tenants: readonly Tenant[]): readonly Tenant[] {
  const wanted = text.toLowerCase();
  return tenants
    .filter(({ id, name }) => `${id}\n${name ?? ""}`.toLowerCase().includes(wanted))
    .slice(0, MAX_RESULTS);
}

/** `order.paid`. */
function looksLikeType(text: string): boolean {
  return /^\w+(\.\w+)+$/.test(text);
}

function itemForId(text: string): NavigationItem | null {
  if (/^evt_[\w-]+$/.test(text)) return { to: `/events/${text}`, icon: "event", name: text };
  if (/^dlv_[\w-]+$/.test(text)) return { to: `/deliveries/${text}`, icon: "delivery", name: text };
  if (/^rpl_[\w-]+$/.test(text)) return { to: `/replays/${text}`, icon: "replay", name: text };
  if (/^ep_[\w-]+$/.test(text))
    return {
      to: "/deliveries",
      search: { endpoint: text },
      icon: "endpoint",
      name: t.deliveries({ name: text }),
    };
  return null;
}
