// A customer's endpoints, and how they do.
import type { Endpoint } from "@posthorn/client";
import { Link, useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useMay, useTenant } from "../../api/session.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Sparkline } from "../../components/chart/sparkline.tsx";
import { EndpointBadge } from "../../components/endpoint/endpoint-badge.tsx";
import { EndpointPlace } from "../../components/endpoint/endpoint-place.tsx";
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
    why: "Why",
    events: "Events",
    day: "Last 24 hours",
    nothing: "You have no endpoint yet",
    nothingDetail: "Add the address of your receiver, choose the events you want, and send a test.",
  },
  de: {
    title: "Endpunkte",
    add: "Endpunkt hinzufügen",
    state: "Zustand",
    url: "URL",
    why: "Warum",
    events: "Ereignisse",
    day: "Letzte 24 Stunden",
    nothing: "Sie haben noch keinen Endpunkt",
    nothingDetail:
      "Geben Sie die Adresse Ihres Empfängers an, wählen Sie die Ereignisse und senden Sie einen Test.",
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
        <EndpointPlace endpoint={endpoint}>
          <span className="font-mono text-xs">{endpoint.url}</span>
        </EndpointPlace>
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
  const add = useMay("webhooks:manage") && (
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
