// What was sent to a customer's endpoints, newest first.
import type { Delivery } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useTenant } from "../../api/session.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveriesTold } from "../../live/tellings.ts";

const texts = defineTexts({
  en: {
    title: "Logs",
    lead: "What was sent to your endpoints, and what they answered.",
    nothing: "Nothing has been sent to you yet",
    nothingDetail: "Send a test event to one of your endpoints: it appears here.",
  },
  de: {
    title: "Verlauf",
    lead: "Was an Ihre Endpunkte gesendet wurde, und was sie antworteten.",
    nothing: "Ihnen wurde noch nichts gesendet",
    nothingDetail: "Senden Sie ein Testereignis an einen Ihrer Endpunkte: Es erscheint hier.",
  },
});

export function PortalLogs() {
  const t = useTexts(texts);
  const tenant = useTenant();
  const { filters } = useFilters();
  const list = useList(
    ["deliveries", tenant, filters],
    (page, signal) =>
      api.deliveries.listOfTenant({
        tenant,
        query: { ...(filters as Filters & { state?: Delivery["state"] }), ...page },
        signal,
      }),
    { watch: { keyOf: ({ id }) => id, live: (changes) => deliveriesTold(changes, filters) } },
  );
  return (
    <DeliveryListPage
      title={t.title}
      lead={t.lead}
      filterBy={["state", "endpoint", "type", "reason", "created_after", "created_before"]}
      isOfOneTenant
      list={list}
      nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
    />
  );
}
