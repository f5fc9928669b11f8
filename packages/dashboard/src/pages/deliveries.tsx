// Deliveries of all tenants, newest first, by any filter; what is chosen is retried together.
import type { Delivery } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useRetry } from "../api/retry.ts";
import { type Filters, useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Button } from "../components/button.tsx";
import type { Column } from "../components/data-table.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { ListView } from "../components/list.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { StateBadge } from "../components/state-badge.tsx";
import { NothingYet } from "../components/states.tsx";
import { Ago } from "../components/time.tsx";

const texts = defineTexts({
  en: {
    title: "Deliveries",
    state: "State",
    type: "Event",
    tenant: "Tenant",
    attempts: "Attempts",
    next: "Next attempt",
    created: "Created",
    nothing: "Nothing has been delivered yet",
    nothingDetail: "A delivery appears for each event and each endpoint that asked for it.",
    retryChosen: (count: number) => `Retry ${count}`,
  },
  de: {
    title: "Zustellungen",
    state: "Zustand",
    type: "Ereignis",
    tenant: "Mandant",
    attempts: "Versuche",
    next: "Nächster Versuch",
    created: "Angelegt",
    nothing: "Noch wurde nichts zugestellt",
    nothingDetail: "Für jedes Ereignis und jeden Endpunkt, der es will, erscheint hier eine Zustellung.",
    retryChosen: (count: number) => `${count} neu versuchen`,
  },
});

export function useDeliveryColumns(): readonly Column<Delivery>[] {
  const t = useTexts(texts);
  return [
    { key: "state", head: t.state, cell: ({ state }) => <StateBadge state={state} /> },
    {
      key: "type",
      head: t.type,
      cell: ({ event_type }) => <code className="font-mono text-xs">{event_type}</code>,
    },
    { key: "tenant", head: t.tenant, from: "md", cell: ({ tenant }) => tenant },
    {
      key: "attempts",
      head: t.attempts,
      from: "sm",
      isNumber: true,
      cell: ({ attempt_count }) => attempt_count,
    },
    {
      key: "next",
      head: t.next,
      from: "lg",
      cell: ({ next_retry_at }) => (next_retry_at === null ? "–" : <Ago at={next_retry_at} />),
    },
    { key: "created", head: t.created, cell: ({ created_at }) => <Ago at={created_at} /> },
  ];
}

export function Deliveries() {
  const t = useTexts(texts);
  const { filters, set, clear } = useFilters();
  const list = useList(["deliveries", filters], (page, signal) =>
    api.deliveries.list({
      query: { ...(filters as Filters & { state?: Delivery["state"] }), ...page },
      signal,
    }),
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const navigate = useNavigate();
  const columns = useDeliveryColumns();
  const retry = useRetry();
  return (
    <Page
      title={t.title}
      actions={
        chosen.size > 0 && (
          <Button icon="retry" onClick={() => void retry([...chosen]).then(() => setChosen(new Set()))}>
            {t.retryChosen(chosen.size)}
          </Button>
        )
      }
    >
      <FilterBar
        filters={filters}
        onChange={set}
        fields={["state", "tenant", "endpoint", "type", "reason", "created_after", "created_before"]}
      />
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
          onClearFilters={clear}
          selection={{ keys: chosen, onChange: setChosen }}
          rowKeys={{ r: ({ id }) => void retry([id]) }}
          nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
        />
      </Panel>
    </Page>
  );
}
