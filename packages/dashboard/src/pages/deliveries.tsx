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
import { useDeliveryColumns } from "../components/delivery-columns.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { ListView } from "../components/list.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { NothingYet } from "../components/states.tsx";
import { deliveriesTold } from "../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Deliveries",
    nothing: "Nothing has been delivered yet",
    nothingDetail: "A delivery appears for each event and each endpoint that asked for it.",
    retryChosen: (count: number) => `Retry ${count}`,
  },
  de: {
    title: "Zustellungen",
    nothing: "Noch wurde nichts zugestellt",
    nothingDetail: "Für jedes Ereignis und jeden Endpunkt, der es will, erscheint hier eine Zustellung.",
    retryChosen: (count: number) => `${count} neu versuchen`,
  },
});

export function Deliveries() {
  const t = useTexts(texts);
  const { filters, set, clear } = useFilters();
  const list = useList(
    ["deliveries", filters],
    (page, signal) =>
      api.deliveries.list({
        query: { ...(filters as Filters & { state?: Delivery["state"] }), ...page },
        signal,
      }),
    { watch: { keyOf: ({ id }) => id, live: (changes) => deliveriesTold(changes, filters) } },
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
