// What was given up: by reason, retried one by one, together, or deleted for good.
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { ReplayLink } from "../../components/replay/replay-link.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveriesTold } from "../../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Dead letters",
    lead: "What was given up. It stays here until somebody retries or deletes it.",
    nothing: "Nothing was given up",
  },
  de: {
    title: "Aufgegeben",
    lead: "Was aufgegeben wurde. Es bleibt hier, bis jemand es neu versucht oder löscht.",
    nothing: "Nichts wurde aufgegeben",
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
        live: (changes) => deliveriesTold(changes, { ...filters, state: "dead" }),
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
