// What failed and is tried again, in the order of its next attempts.
import { useNavigate } from "@tanstack/react-router";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useRetry } from "../api/retry.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import { useDeliveryColumns } from "../components/delivery-columns.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { ListView } from "../components/list.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { NothingYet } from "../components/states.tsx";
import { deliveriesChanged } from "../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Retry queue",
    lead: "What failed and will be tried again, the next one first.",
    nothing: "Nothing waits to be tried again",
  },
  de: {
    title: "Neue Versuche",
    lead: "Was scheiterte und wieder versucht wird, das nächste zuerst.",
    nothing: "Nichts wartet auf einen neuen Versuch",
  },
});

const WATCHED_MS = 5_000;

export function RetryQueue() {
  const t = useTexts(texts);
  const { filters, set, clear } = useFilters();
  const navigate = useNavigate();
  const retry = useRetry();
  const columns = useDeliveryColumns();
  const list = useList(
    ["retry-queue", filters],
    (page, signal) => api.deliveries.retryQueue({ query: { ...filters, ...page }, signal }),
    { watch: { keyOf: ({ id }) => id, everyMs: WATCHED_MS, live: deliveriesChanged } },
  );
  return (
    <Page title={t.title} lead={t.lead}>
      <FilterBar filters={filters} onChange={set} fields={["tenant", "endpoint"]} />
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
          onClearFilters={clear}
          rowKeys={{ r: ({ id }) => void retry([id]) }}
          nothingYet={<NothingYet title={t.nothing} />}
        />
      </Panel>
    </Page>
  );
}
