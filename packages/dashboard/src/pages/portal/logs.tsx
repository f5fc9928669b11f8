// What was sent to a customer's endpoints, newest first.
import type { Delivery } from "@posthorn/client";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useRetry } from "../../api/retry.ts";
import { useTenant } from "../../api/session.ts";
import { type Filters, useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { useDeliveryColumns } from "../../components/delivery-columns.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { ListView } from "../../components/list.tsx";
import { Page, Panel } from "../../components/panel.tsx";
import { NothingYet } from "../../components/states.tsx";
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
  const { filters, set, clear } = useFilters();
  const navigate = useNavigate();
  const retry = useRetry();
  const columns = useDeliveryColumns({ isOfOneTenant: true });
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
    <Page title={t.title} lead={t.lead}>
      <FilterBar
        filters={filters}
        onChange={set}
        fields={["state", "endpoint", "type", "reason", "created_after", "created_before"]}
      />
      <Panel isFlush>
        <ListView
          label={t.title}
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: "/deliveries/$id", params: { id } })}
          onClearFilters={clear}
          rowKeys={{ r: ({ id }) => void retry([id]) }}
          nothingYet={<NothingYet title={t.nothing}>{t.nothingDetail}</NothingYet>}
        />
      </Panel>
    </Page>
  );
}
