// Table columns of endpoints.
import type { Endpoint } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { share } from "../../format/number.ts";
import { Sparkline } from "../chart/sparkline.tsx";
import type { Column } from "../list/data-table.tsx";
import { EndpointBadge } from "./endpoint-badge.tsx";
import { EndpointUrl } from "./endpoint-url.tsx";
import { useEndpointWhy } from "./endpoint-why.tsx";

const texts = defineTexts({
  en: {
    state: "State",
    url: "URL",
    tenant: "Tenant",
    events: "Event types",
    day: "Last 24 hours",
    why: "Problem",
  },
  de: {
    state: "Status",
    url: "URL",
    tenant: "Mandant",
    events: "Ereignistypen",
    day: "Letzte 24 Stunden",
    why: "Problem",
  },
});

export function useEndpointColumns({ isOfOneTenant = false } = {}): readonly Column<Endpoint>[] {
  const t = useTexts(texts);
  const whyOf = useEndpointWhy();
  const language = useLanguage();
  const columns: readonly (Column<Endpoint> | false)[] = [
    { key: "state", head: t.state, cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
    {
      key: "url",
      head: t.url,
      cell: (endpoint) => (
        <EndpointUrl endpoint={endpoint}>
          <Link
            to="/tenants/$tenant/endpoints/$id"
            params={{ tenant: endpoint.tenant, id: endpoint.id }}
            className="font-mono text-xs underline-offset-2 hover:underline"
          >
            {endpoint.url}
          </Link>
        </EndpointUrl>
      ),
      below: (endpoint) => {
        const why = whyOf(endpoint);
        return (
          <>
            {!isOfOneTenant && <span className="sm:hidden">{endpoint.tenant}</span>}
            {!isOfOneTenant && why !== null && <span className="sm:hidden"> · </span>}
            {why}
          </>
        );
      },
    },
    !isOfOneTenant && {
      key: "tenant",
      head: t.tenant,
      from: "sm",
      cell: ({ tenant }) => (
        <Link to="/tenants/$tenant" params={{ tenant }} className="underline-offset-2 hover:underline">
          {tenant}
        </Link>
      ),
    },
    { key: "events", head: t.events, from: "lg", cell: ({ events }) => events.join(", ") },
    {
      key: "why",
      head: t.why,
      from: "xl",
      cell: (endpoint) => whyOf(endpoint) ?? "–",
    },
    {
      key: "day",
      head: t.day,
      from: "md",
      cell: ({ health: { last_day } }) => (
        <span className="flex items-center gap-2">
          <Sparkline points={last_day?.points ?? null} />
          {last_day !== null && (
            <span className="text-xs text-muted tabular-nums">{share(last_day.success_share, language)}</span>
          )}
        </span>
      ),
    },
  ];
  return columns.filter((column) => column !== false);
}
