// Events of all tenants, newest first.
import type { Event } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { api, BASE_URL } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { MissingEventHelp } from "../../components/event/missing-event-help.tsx";
import type { Column } from "../../components/list/data-table.tsx";
import { ListPage } from "../../components/list/list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { Ago } from "../../components/ui/time.tsx";
import { eventRowChanges } from "../../live/row-changes.ts";

const texts = defineTexts({
  en: {
    title: "Events",
    type: "Event type",
    tenant: "Tenant",
    subject: "Subject",
    id: "Id",
    created: "Created",
    nothing: "No events yet",
    nothingDetail: "Publish one from a terminal:",
  },
  de: {
    title: "Ereignisse",
    type: "Ereignistyp",
    tenant: "Mandant",
    subject: "Subject",
    id: "ID",
    created: "Erstellt",
    nothing: "Noch keine Ereignisse",
    nothingDetail: "Im Terminal veröffentlichen:",
  },
});

export function Events() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const navigate = useNavigate();
  const list = useList(
    ["events", filters],
    (page, signal) => api.events.list({ query: { ...filters, ...page }, signal }),
    { watch: { keyOf: ({ id }) => id, live: (changes) => eventRowChanges(changes, filters) } },
  );
  const columns: readonly Column<Event>[] = [
    {
      key: "type",
      head: t.type,
      cell: ({ type }) => <code className="font-mono text-xs">{type}</code>,
      below: ({ subject }) => subject,
    },
    { key: "tenant", head: t.tenant, cell: ({ tenant }) => tenant },
    { key: "subject", head: t.subject, from: "xl", cell: ({ subject }) => subject ?? "–" },
    {
      key: "id",
      head: t.id,
      from: "lg",
      cell: ({ id }) => <code className="font-mono text-xs text-muted">{id}</code>,
    },
    { key: "created", head: t.created, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
  return (
    <ListPage
      title={t.title}
      filterBy={["tenant", "type", "subject", "created_after", "created_before"]}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: "/events/$id", params: { id } })}
      filteredOut={<MissingEventHelp />}
      nothingYet={
        <NothingYet
          title={t.nothing}
          command={`POSTHORN_URL=${BASE_URL} posthorn publish order.paid --tenant acme --data '{"order":1}'`}
        >
          {t.nothingDetail}
        </NothingYet>
      }
    />
  );
}
