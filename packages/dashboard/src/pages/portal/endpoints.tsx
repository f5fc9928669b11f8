// The endpoints of the portal's tenant.
import type { Endpoint } from "@posthorn/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useHasScope, useTenant } from "../../api/session.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Sparkline } from "../../components/chart/sparkline.tsx";
import { EndpointBadge } from "../../components/endpoint/endpoint-badge.tsx";
import { EndpointUrl } from "../../components/endpoint/endpoint-url.tsx";
import { useEndpointWhy } from "../../components/endpoint/endpoint-why.tsx";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { buttonClass } from "../../components/ui/button.tsx";
import { Icon } from "../../components/ui/icons.tsx";
import { NothingYet } from "../../components/ui/states.tsx";

const texts = defineTexts({
  en: {
    title: "Endpoints",
    add: "Add endpoint",
    state: "State",
    url: "URL",
    why: "Problem",
    events: "Event types",
    day: "Last 24 hours",
    nothing: "No endpoints yet",
    nothingDetail: "Add the URL of your receiver, choose event types and send a test event.",
  },
  de: {
    title: "Endpunkte",
    add: "Endpunkt hinzufügen",
    state: "Status",
    url: "URL",
    why: "Problem",
    events: "Ereignistypen",
    day: "Letzte 24 Stunden",
    nothing: "Noch keine Endpunkte",
    nothingDetail:
      "Geben Sie die URL Ihres Empfängers an, wählen Sie Ereignistypen und senden Sie ein Testereignis.",
  },
});

export function PortalEndpoints() {
  const t = useTexts(texts);
  const tenant = useTenant();
  const whyOf = useEndpointWhy();
  const navigate = useNavigate();
  const list = useList(["endpoints", tenant], (page, signal) =>
    api.endpoints.list({ tenant, query: page, signal }),
  );
  const columns: readonly Column<Endpoint>[] = [
    { key: "state", head: t.state, cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
    {
      key: "url",
      head: t.url,
      cell: (endpoint) => (
        <EndpointUrl endpoint={endpoint}>
          <span className="font-mono text-xs">{endpoint.url}</span>
        </EndpointUrl>
      ),
      below: whyOf,
    },
    { key: "why", head: t.why, from: "xl", cell: (endpoint) => whyOf(endpoint) ?? "–" },
    { key: "events", head: t.events, from: "md", cell: ({ events }) => events.join(", ") },
    {
      key: "day",
      head: t.day,
      from: "sm",
      cell: ({ health }) => <Sparkline points={health.last_day?.points ?? null} />,
    },
  ];
  const add = useHasScope("webhooks:manage") && (
    <Link to="/add" className={buttonClass("primary")}>
      <Icon name="plus" />
      {t.add}
    </Link>
  );
  return (
    <ListPage
      title={t.title}
      actions={add}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/endpoints/$id", params: { id } })}
      nothingYet={
        <NothingYet title={t.nothing}>
          <p className="pb-3">{t.nothingDetail}</p>
          {add}
        </NothingYet>
      }
    />
  );
}
