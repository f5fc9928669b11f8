// The event catalogue in the portal.
import type { EventType } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import type { Column } from "../../components/list/data-table.tsx";
import { ListView } from "../../components/list/list.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { Failed, Loading, NothingYet } from "../../components/ui/states.tsx";

const texts = defineTexts({
  en: {
    title: "Event types",
    lead: "The events your endpoints can subscribe to.",
    name: "Event type",
    description: "Description",
    version: "Version",
    deprecated: "deprecated",
    example: "Example",
    schema: "JSON Schema of the data",
    nothing: "No event types yet",
    nothingDetail: "Endpoints subscribed to all event types receive all events.",
  },
  de: {
    title: "Ereignistypen",
    lead: "Die Ereignisse, die Ihre Endpunkte abonnieren können.",
    name: "Ereignistyp",
    description: "Beschreibung",
    version: "Version",
    deprecated: "veraltet",
    example: "Beispiel",
    schema: "JSON-Schema der Daten",
    nothing: "Noch keine Ereignistypen",
    nothingDetail: "Endpunkte, die alle Ereignistypen abonniert haben, erhalten alle Ereignisse.",
  },
});

export function PortalCatalogue() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const list = useList(["event-types"], (page, signal) => api.eventTypes.list({ query: page, signal }));
  const columns: readonly Column<EventType>[] = [
    {
      key: "name",
      head: t.name,
      cell: (type) => <TypeName type={type} />,
      below: ({ description }) => <span className="sm:hidden">{description}</span>,
    },
    { key: "version", head: t.version, from: "md", cell: ({ api_version }) => api_version },
    { key: "description", head: t.description, from: "sm", cell: ({ description }) => description },
  ];
  return (
    <Page title={t.title} lead={t.lead}>
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ name, api_version }) => `${name} ${api_version}`}
          onOpen={({ name }) => void navigate({ to: "/catalogue/$name", params: { name } })}
          nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
        />
      </Panel>
    </Page>
  );
}

function TypeName({ type }: { readonly type: EventType }) {
  const t = useTexts(texts);
  return (
    <>
      <code className="font-mono text-xs">{type.name}</code>{" "}
      {type.deprecated && <Badge tone="warn">{t.deprecated}</Badge>}
    </>
  );
}

export function PortalEventType() {
  const t = useTexts(texts);
  const { name = "" } = useParams({ strict: false });
  const query = useQuery({
    queryKey: ["event-type", name],
    queryFn: ({ signal }) => api.eventTypes.get({ name, signal }),
  });
  if (query.isPending) return <Loading />;
  if (query.error !== null) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  const type = query.data;
  return (
    <Page title={<TypeName type={type} />} lead={type.description ?? undefined}>
      {type.example !== null && (
        <Panel title={t.example}>
          <JsonView value={type.example} label={t.example} />
        </Panel>
      )}
      {type.schema !== null && (
        <Panel title={t.schema}>
          <JsonView value={type.schema} label={t.schema} />
        </Panel>
      )}
    </Page>
  );
}
