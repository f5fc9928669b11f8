// The lists of deliveries: all, those to retry, dead letters, and those of the portal's tenant.
import type { Delivery } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { useRetry } from "../../api/deliveries.ts";
import { useList } from "../../api/list.ts";
import { useTenant } from "../../api/session.ts";
import { type Filters, useQueryFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { useSelection } from "../../components/bulk/bulk-bar.tsx";
import { DeleteDead } from "../../components/bulk/delete-dead.tsx";
import { DeliveryBulk } from "../../components/bulk/delivery-bulk.tsx";
import { deliveryColumns } from "../../components/delivery/delivery-columns.tsx";
import { ExportButton } from "../../components/list/export-button.tsx";
import type { Field } from "../../components/list/filter-bar.tsx";
import { ListPage, type ListPageProps } from "../../components/list/list-page.tsx";
import { buttonClass } from "../../components/ui/button.tsx";
import type { Changes } from "../../live/live.ts";
import { deliveryRowChanges, deliveryRowUpdates } from "../../live/row-changes.ts";

const t = defineTexts({
  nothingDetail: [
    "A delivery is created for every event and every endpoint it matches.",
    "Für jedes Ereignis und jeden passenden Endpunkt wird eine Zustellung erstellt.",
  ],
  retryLead: [
    "Failed deliveries that will be retried, next attempt first.",
    "Fehlgeschlagene Zustellungen, die erneut versucht werden; der nächste Versuch zuerst.",
  ],
  noRetries: ["No retries scheduled", "Keine Versuche geplant"],
  deadLead: [
    "Deliveries that failed permanently. They are kept until they are retried or deleted.",
    "Endgültig fehlgeschlagene Zustellungen. Sie bleiben erhalten, bis sie erneut versucht oder gelöscht werden.",
  ],
  noDead: ["No dead letters", "Keine Dead Letters"],
  logsLead: ["Deliveries to your endpoints.", "Zustellungen an Ihre Endpunkte."],
  noLogsDetail: [
    "Send a test event to one of your endpoints to see it here.",
    "Senden Sie ein Testereignis an einen Ihrer Endpunkte, um es hier zu sehen.",
  ],
  replay: ["Replay all matching …", "Replay aller Treffer …"],
});

const REFRESH_MS = 5_000;
const FILTERS: readonly Field[] = ["endpoint", "type", "reason", "created"];

export function Deliveries() {
  const filters = useDeliveryFilters();
  const list = useList("deliveries.list", { query: filters }, liveBy(filters));
  return (
    <DeliveryListPage
      title={t.deliveries}
      actions={
        <>
          <ExportButton of={["deliveries", "attempts"]} filters={filters} />
          <ReplayLink filters={filters} />
        </>
      }
      filterBy={["state", "tenant", ...FILTERS]}
      list={list}
      nothing={t.noDeliveries}
      nothingDetail={t.nothingDetail}
    />
  );
}

/** Failed deliveries in the order of their next attempts. */
export function RetryQueue() {
  const query = useDeliveryFilters();
  const watch = { everyMs: REFRESH_MS, live: deliveryRowUpdates };
  const list = useList("deliveries.retryQueue", { query }, { watch });
  return (
    <DeliveryListPage
      title={t.retryQueue}
      lead={t.retryLead}
      filterBy={["tenant", "endpoint"]}
      list={list}
      nothing={t.noRetries}
    />
  );
}

export function DeadLetters() {
  const filters = { ...useDeliveryFilters(), state: "dead" } as const;
  const list = useList("deliveries.list", { query: filters }, liveBy(filters));
  return (
    <DeliveryListPage
      title={t.deadLetters}
      lead={t.deadLead}
      actions={
        <>
          <ExportButton of={["deadLetters"]} filters={filters} />
          <ReplayLink filters={filters} />
          <DeleteDead filters={filters} />
        </>
      }
      filterBy={["tenant", ...FILTERS]}
      areDead
      list={list}
      nothing={t.noDead}
    />
  );
}

export function PortalLogs() {
  const filters = useDeliveryFilters();
  const input = { tenant: useTenant(), query: filters };
  const list = useList("deliveries.listOfTenant", input, liveBy(filters));
  return (
    <DeliveryListPage
      title={t.logs}
      lead={t.logsLead}
      actions={
        <>
          <ExportButton of={["deliveries", "attempts"]} filters={filters} />
          {filters.state === "dead" && <DeleteDead filters={filters} />}
        </>
      }
      filterBy={["state", ...FILTERS]}
      isOfOneTenant
      list={list}
      nothing={t.noDeliveries}
      nothingDetail={t.noLogsDetail}
    />
  );
}

function useDeliveryFilters() {
  return useQueryFilters() as Filters & { readonly state?: Delivery["state"] };
}

function liveBy(filters: Filters) {
  return { watch: { live: (changes: Changes) => deliveryRowChanges(changes, filters) } };
}

/** A page with a list of deliveries, with retry and bulk actions. */
function DeliveryListPage({
  areDead = false,
  isOfOneTenant = false,
  ...page
}: Omit<ListPageProps<Delivery>, "columns"> & {
  readonly areDead?: boolean;
  readonly isOfOneTenant?: boolean;
}) {
  const retry = useRetry();
  const selection = useSelection<Delivery>();
  return (
    <ListPage
      {...page}
      columns={deliveryColumns({ areDead, isOfOneTenant })}
      linkTo={({ id }) => ({ to: "/deliveries/$id", params: { id } })}
      // a selection is retried by the bulk bar instead
      rowKeys={selection.selected.size > 0 ? {} : { r: ({ id }) => void retry(id) }}
      selection={selection}
    >
      <DeliveryBulk selection={selection} />
    </ListPage>
  );
}

const REPLAYABLE = ["dead", "failed", "success"];

/** A link to a new replay with the filters of the list. */
function ReplayLink({ filters }: { readonly filters: Filters }) {
  const { state = "all", tenant, endpoint, type, reason, created_after, created_before } = filters;
  if (state !== "all" && !REPLAYABLE.includes(state)) return null;
  return (
    <Link
      to="/replays"
      search={{ new: state, tenant, endpoint, type, reason, created_after, created_before } as never}
      className={buttonClass()}
    >
      {t.replay}
    </Link>
  );
}
