// What failed and is tried again, in the order of its next attempts.
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveriesChanged } from "../../live/tellings.ts";

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
  const { filters } = useFilters();
  const list = useList(
    ["retry-queue", filters],
    (page, signal) => api.deliveries.retryQueue({ query: { ...filters, ...page }, signal }),
    { watch: { keyOf: ({ id }) => id, everyMs: WATCHED_MS, live: deliveriesChanged } },
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
