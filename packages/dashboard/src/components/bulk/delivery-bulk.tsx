// Retries or deletes the selected deliveries.
import type { Delivery } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, isStatus } from "../../api/client.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts } from "../../app/texts.ts";
import { planDelete, planRetry, type Related } from "../../format/bulk-plan.ts";
import type { Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";
import { Tick } from "../ui/field.tsx";
import { BulkBar, useBulkAction } from "./bulk-bar.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";

const t = defineTexts({
  retry: ["Retry {count} …", "{count} erneut versuchen …"],
  retryTitle: ["Retry selected deliveries", "Ausgewählte Zustellungen erneut versuchen"],
  retryNow: ["Retry", "Erneut versuchen"],
  retried: [
    "{count} {count|delivery|deliveries} will be retried now. {count|Its retry schedule starts|Their retry schedules start} again.",
    "{count} {count|Zustellung wird|Zustellungen werden} jetzt erneut versucht. Der Zeitplan der Versuche beginnt von vorn.",
  ],
  again: ["Also resend deliveries that succeeded", "Auch erfolgreiche Zustellungen erneut senden"],
  againHint: [
    "The receiver gets the event again, with the same event id.",
    "Der Empfänger erhält das Ereignis noch einmal, mit derselben Ereignis-ID.",
  ],
  remove: ["Delete {count} …", "{count} löschen …"],
  removeTitle: ["Delete selected dead letters", "Ausgewählte Dead Letters löschen"],
  removed: [
    "{count} dead {count|letter|letters} will be deleted permanently and cannot be retried or replayed. The events are kept.",
    "{count} {count|Dead Letter wird|Dead Letters werden} endgültig gelöscht. Eine erneute Zustellung ist danach nicht mehr möglich. Die Ereignisse bleiben erhalten.",
  ],
});

export function DeliveryBulk({ selection }: { readonly selection: Selection<Delivery> }) {
  const { action, setAction, close, rows } = useBulkAction<"retry" | "delete", Delivery>(selection);
  const dead = rows.filter(({ state }) => state === "dead").length;
  useKeys(rows.length > 0 ? { r: () => setAction("retry") } : {});
  return (
    <>
      <BulkBar selection={selection}>
        <Button kind="primary" icon="retry" onClick={() => setAction("retry")}>
          {t.retry({ count: rows.length })}
        </Button>
        {dead > 0 && (
          <Button kind="danger" icon="dead" onClick={() => setAction("delete")}>
            {t.remove({ count: dead })}
          </Button>
        )}
      </BulkBar>
      {action === "retry" && <RetryDialog deliveries={rows} onClose={close} />}
      {action === "delete" && <DeleteDialog deliveries={rows} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly deliveries: readonly Delivery[];
  readonly onClose: (done: readonly Delivery[] | null) => void;
}

function RetryDialog({ deliveries, onClose }: DialogProps) {
  const [sendsDeliveredAgain, setSendsDeliveredAgain] = useState(false);
  const related = useRelated(deliveries);
  return (
    <BulkDialog
      title={t.retryTitle}
      action={t.retryNow}
      plan={related && planRetry(deliveries, related, { sendsDeliveredAgain })}
      describe={t.retried}
      parts={parts()}
      options={
        deliveries.some(({ state }) => state === "success") && (
          <Tick
            label={t.again}
            hint={t.againHint}
            checked={sendsDeliveredAgain}
            onChange={setSendsDeliveredAgain}
          />
        )
      }
      act={({ id }) => api.deliveries.retry({ delivery: id })}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ deliveries, onClose }: DialogProps) {
  return (
    <BulkDialog
      title={t.removeTitle}
      action={t.delete}
      isDangerous
      plan={planDelete(deliveries)}
      describe={t.removed}
      parts={parts()}
      act={({ id }) => api.deliveries.delete({ delivery: id })}
      onClose={onClose}
    />
  );
}

/** What the bulk dialogs count. */
const parts = () => [
  { title: t.tenants, nameOf: ({ tenant }: Delivery) => tenant },
  { title: t.endpoints, nameOf: ({ endpoint_name }: Delivery) => endpoint_name },
  { title: t.eventTypes, nameOf: ({ event_type }: Delivery) => event_type },
];

/** The endpoints and tenants of the selected deliveries; null until loaded. */
function useRelated(deliveries: readonly Delivery[]): Related | null {
  const tenantOf = new Map(deliveries.map(({ endpoint_id, tenant }) => [endpoint_id, tenant]));
  const { data } = useQuery({
    queryKey: ["bulk", ...tenantOf],
    queryFn: async () => {
      const getEndpoint = (endpoint: string) =>
        api.endpoints.get({ tenant: tenantOf.get(endpoint) as string, endpoint });
      const [endpoints, tenants] = await Promise.all([
        loadAll(tenantOf.keys(), getEndpoint),
        loadAll(tenantOf.values(), (tenant) => api.tenants.get({ tenant })),
      ]);
      return { endpoints, tenants };
    },
    staleTime: 0,
  });
  return data ?? null;
}

/** Null for 404. Leaves out what failed to load: the server decides when the action runs. */
async function loadAll<Thing>(ids: Iterable<string>, get: (id: string) => Promise<Thing>) {
  const found = new Map<string, Thing | null>();
  const load = async (id: string) => {
    try {
      found.set(id, await get(id));
    } catch (error) {
      if (isStatus(error, 404)) found.set(id, null);
    }
  };
  await Promise.all([...new Set(ids)].map(load));
  return found;
}
