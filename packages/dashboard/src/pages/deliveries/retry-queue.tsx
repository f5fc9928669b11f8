// Failed deliveries in the order of their next attempts.
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveryRowUpdates } from "../../live/row-changes.ts";

const texts = defineTexts({
  en: {
    title: "Retry queue",
    lead: "Failed deliveries that will be retried, next attempt first.",
    nothing: "No retries scheduled",
  },
  de: {
    title: "Geplante Versuche",
    lead: "Fehlgeschlagene Zustellungen, die erneut versucht werden; der nächste Versuch zuerst.",
    nothing: "Keine Versuche geplant",
  },
});

const REFRESH_MS = 5_000;

export function RetryQueue() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const list = useList(
    ["retry-queue", filters],
    (page, signal) => api.deliveries.retryQueue({ query: { ...filters, ...page }, signal }),
    { watch: { keyOf: ({ id }) => id, everyMs: REFRESH_MS, live: deliveryRowUpdates } },
  );
  return (
    <DeliveryListPage
      title={t.title}
      lead={t.lead}
      filterBy={["tenant", "endpoint"]}
      list={list}
      nothingYet={<NothingYet title={t.nothing} />}
    />
  );
}
