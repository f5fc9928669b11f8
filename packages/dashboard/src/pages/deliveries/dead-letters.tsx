// Dead letters.
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { ReplayLink } from "../../components/replay/replay-link.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveryRowChanges } from "../../live/row-changes.ts";

const texts = defineTexts({
  en: {
    title: "Dead letters",
    lead: "Deliveries that failed permanently. They are kept until they are retried or deleted.",
    nothing: "No dead letters",
  },
  de: {
    title: "Dead Letters",
    lead: "Endgültig fehlgeschlagene Zustellungen. Sie bleiben erhalten, bis sie erneut versucht oder gelöscht werden.",
    nothing: "Keine Dead Letters",
  },
});

export function DeadLetters() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const list = useList(
    ["dead-letters", filters],
    (page, signal) => api.deliveries.list({ query: { ...filters, state: "dead", ...page }, signal }),
    {
      watch: {
        keyOf: ({ id }) => id,
        live: (changes) => deliveryRowChanges(changes, { ...filters, state: "dead" }),
      },
    },
  );
  return (
    <DeliveryListPage
      title={t.title}
      lead={t.lead}
      actions={<ReplayLink filters={{ ...filters, state: "dead" }} />}
      filterBy={["tenant", "endpoint", "type", "reason", "created_after", "created_before"]}
      areDead
      list={list}
      nothingYet={<NothingYet title={t.nothing} />}
    />
  );
}
