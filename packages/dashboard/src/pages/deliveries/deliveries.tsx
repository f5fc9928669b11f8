// Deliveries of all tenants, newest first, by any filter.
import type { Delivery } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { ReplayLink } from "../../components/replay/replay-link.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveriesTold } from "../../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Deliveries",
    nothing: "Nothing has been delivered yet",
    nothingDetail: "A delivery appears for each event and each endpoint that asked for it.",
  },
  de: {
    title: "Zustellungen",
    nothing: "Noch wurde nichts zugestellt",
    nothingDetail: "Für jedes Ereignis und jeden Endpunkt, der es will, erscheint hier eine Zustellung.",
  },
});

export function Deliveries() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const list = useList(
    ["deliveries", filters],
    (page, signal) =>
      api.deliveries.list({
        query: { ...(filters as Filters & { state?: Delivery["state"] }), ...page },
        signal,
      }),
    { watch: { keyOf: ({ id }) => id, live: (changes) => deliveriesTold(changes, filters) } },
  );
  return (
    <DeliveryListPage
      title={t.title}
      actions={<ReplayLink filters={filters} />}
      filterBy={["state", "tenant", "endpoint", "type", "reason", "created_after", "created_before"]}
      list={list}
      nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
    />
  );
}
