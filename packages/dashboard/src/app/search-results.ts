// Search results of the operator's palette: resources by id, endpoints by name or URL, events by
// type or subject, tenants by id or name.
import { hostOf } from "@posthorn/wire";
import { keepPreviousData } from "@tanstack/react-query";
import { useApi } from "../api/use-api.ts";
import type { NavigationItem } from "./shell.tsx";
import { defineTexts } from "./texts.ts";

const t = defineTexts({
  subject: ["Events with subject {text}", "Ereignisse mit Subject {text}"],
  events: ["Events of {name}", "Ereignisse von {name}"],
  type: ["Events of type {text}", "Ereignisse vom Typ {text}"],
  endpoint: ["Endpoint {name}", "Endpunkt {name}"],
  tenant: ["Tenant {name}", "Mandant {name}"],
  deliveries: ["Deliveries to {name}", "Zustellungen an {name}"],
});

const MAX_RESULTS = 3;
const MIN_LETTERS = 2;

export function useSearchResults(text: string): readonly NavigationItem[] {
  const input = { query: { search: text, limit: MAX_RESULTS } };
  const byId = itemForId(text);
  const options = {
    enabled: byId === null && text.length >= MIN_LETTERS,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  };
  const tenants = useApi("tenants.list", input, options).data?.data ?? [];
  const endpoints = useApi("endpoints.listAll", input, options).data?.data ?? [];
  if (byId !== null) return [byId];
  if (text.length < MIN_LETTERS) return [];
  return [
    ...endpoints.map(({ id, tenant, name, url }): NavigationItem => {
      const label = name === hostOf(url) ? url : `${name} · ${url}`;
      return {
        to: `/tenants/${encodeURIComponent(tenant)}/endpoints/${id}`,
        icon: "endpoint",
        name: t.endpoint({ name: label }),
      };
    }),
    ...tenants.flatMap(({ id, name }): NavigationItem[] => [
      { to: "/events", search: { tenant: id }, icon: "event", name: t.events({ name: name ?? id }) },
      { to: `/tenants/${encodeURIComponent(id)}`, icon: "tenant", name: t.tenant({ name: name ?? id }) },
    ]),
    ...(looksLikeType(text)
      ? [{ to: "/events", search: { type: text }, icon: "event" as const, name: t.type({ text }) }]
      : []),
    { to: "/events", search: { subject: text }, icon: "event", name: t.subject({ text }) },
  ];
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
