// The deliveries of the portal's tenant, newest first.
import type { Delivery } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useTenant } from "../../api/session.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { DeliveryListPage } from "../../components/delivery/delivery-list-page.tsx";
import { NothingYet } from "../../components/ui/states.tsx";
import { deliveryRowChanges } from "../../live/row-changes.ts";

const texts = defineTexts({
  en: {
    title: "Logs",
    lead: "Deliveries to your endpoints.",
    nothing: "No deliveries yet",
    nothingDetail: "Send a test event to one of your endpoints to see it here.",
  },
  de: {
    title: "Logs",
    lead: "Zustellungen an Ihre Endpunkte.",
    nothing: "Noch keine Zustellungen",
    nothingDetail: "Senden Sie ein Testereignis an einen Ihrer Endpunkte, um es hier zu sehen.",
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
    { watch: { keyOf: ({ id }) => id, live: (changes) => deliveryRowChanges(changes, filters) } },
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
