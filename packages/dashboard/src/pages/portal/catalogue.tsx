// The event catalogue in the portal.
import type { EventType } from "@posthorn/client";
import { useParams } from "@tanstack/react-router";
import { useList } from "../../api/list.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { ListPage } from "../../components/list/list-page.tsx";
import { Badge } from "../../components/ui/badge.tsx";
import { JsonView } from "../../components/ui/json-view.tsx";
import { NotLoaded, Page, Panel } from "../../components/ui/page.tsx";
import { versionKey } from "../../format/event-type-form.ts";

const t = defineTexts({
  lead: [
    "The events your endpoints can subscribe to.",
    "Die Ereignisse, die Ihre Endpunkte abonnieren können.",
  ],
  nothing: ["No event types yet", "Noch keine Ereignistypen"],
  nothingDetail: [
    "Endpoints subscribed to all event types receive all events.",
    "Endpunkte, die alle Ereignistypen abonniert haben, erhalten alle Ereignisse.",
  ],
});

export function PortalCatalogue() {
  const list = useList("eventTypes.list", {}, { keyOf: versionKey });
  return (
    <ListPage
      title={t.eventTypes}
      lead={t.lead}
      list={list}
      columns={[
        {
          key: "name",
          head: t.eventType,
          share: 1,
          cell: (type) => <TypeName type={type} />,
          below: ({ description }) => <span className="sm:hidden">{description}</span>,
        },
        { key: "version", head: t.version, from: "md", cell: ({ api_version }) => api_version },
        {
          key: "description",
          head: t.description,
          from: "sm",
          share: 2,
          cell: ({ description }) => description,
        },
      ]}
      linkTo={({ name }) => ({ to: "/catalogue/$name", params: { name } })}
      nothing={t.nothing}
      nothingDetail={t.nothingDetail}
    />
  );
}

function TypeName({ type }: { readonly type: EventType }) {
  return (
    <>
      <code className="font-mono text-xs">{type.name}</code>{" "}
      {type.deprecated && <Badge tone="warn">{t.deprecated}</Badge>}
    </>
  );
}

export function PortalEventType() {
  const { name = "" } = useParams({ strict: false });
  const query = useApi("eventTypes.get", { name });
  if (query.isPending || query.error !== null) return <NotLoaded query={query} />;
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
