// Deliveries of all tenants, newest first.
import type { Delivery } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { ReplayLink } from "../../components/replay/replay-link.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveryRowChanges } from "../../live/row-changes.ts";

const texts = defineTexts({
  en: {
    title: "Deliveries",
    nothing: "No deliveries yet",
    nothingDetail: "A delivery is created for every event and every endpoint it matches.",
  },
  de: {
    title: "Zustellungen",
    nothing: "Noch keine Zustellungen",
    nothingDetail: "Für jedes Ereignis und jeden passenden Endpunkt wird eine Zustellung erstellt.",
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
    { watch: { keyOf: ({ id }) => id, live: (changes) => deliveryRowChanges(changes, filters) } },
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
