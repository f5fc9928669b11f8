// Retries or deletes the selected deliveries.
import type { Delivery } from "@posthorn/client";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { api, isStatus } from "../../api/client.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { type Plan, planDelete, planRetry, type Related } from "../../format/bulk-plan.ts";
import type { Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";
import { Tick } from "../ui/field.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { deselect } from "./selection.ts";

const texts = defineTexts({
  en: {
    retry: (count: number) => `Retry ${count} …`,
    retryTitle: "Retry selected deliveries",
    retryNow: "Retry",
    retried: (count: number) =>
      count === 1
        ? "1 delivery will be retried now. Its attempt count starts again."
        : `${count} deliveries will be retried now. Their attempt counts start again.`,
    again: "Also resend deliveries that succeeded",
    againHint: "The receiver gets the event again, with the same event id.",
    remove: (count: number) => `Delete ${count} …`,
    removeTitle: "Delete selected dead letters",
    removeNow: "Delete",
    removed: (count: number) =>
      `${count === 1 ? "1 dead letter" : `${count} dead letters`} will be deleted permanently and cannot be retried or replayed. The events are kept.`,
    tenants: "Tenants",
    endpoints: "Endpoints",
    types: "Event types",
  },
  de: {
    retry: (count: number) => `${count} erneut versuchen …`,
    retryTitle: "Ausgewählte Zustellungen erneut versuchen",
    retryNow: "Erneut versuchen",
    retried: (count: number) =>
      count === 1
        ? "1 Zustellung wird jetzt erneut versucht. Die Zählung der Versuche beginnt von vorn."
        : `${count} Zustellungen werden jetzt erneut versucht. Die Zählung der Versuche beginnt von vorn.`,
    again: "Auch erfolgreiche Zustellungen erneut senden",
    againHint: "Der Empfänger erhält das Ereignis noch einmal, mit derselben Ereignis-ID.",
    remove: (count: number) => `${count} löschen …`,
    removeTitle: "Ausgewählte Dead Letters löschen",
    removeNow: "Löschen",
    removed: (count: number) =>
      `${count === 1 ? "1 Dead Letter wird" : `${count} Dead Letters werden`} endgültig gelöscht und können nicht mehr erneut zugestellt werden. Die Ereignisse bleiben erhalten.`,
    tenants: "Mandanten",
    endpoints: "Endpunkte",
    types: "Ereignistypen",
  },
});

export function DeliveryBulk({ selection }: { readonly selection: Selection<Delivery> }) {
  const t = useTexts(texts);
  const [doing, setDoing] = useState<"retry" | "delete" | null>(null);
  const deliveries = [...selection.selected.values()];
  const dead = deliveries.filter(({ state }) => state === "dead").length;
  const close = (done: readonly Delivery[] | null) => {
    setDoing(null);
    deselect(selection, done);
  };
  useKeys(deliveries.length > 0 ? { r: () => setDoing("retry") } : {});
  return (
    <>
      <BulkBar selection={selection}>
        <Button kind="primary" icon="retry" onClick={() => setDoing("retry")}>
          {t.retry(deliveries.length)}
        </Button>
        {dead > 0 && (
          <Button kind="danger" icon="dead" onClick={() => setDoing("delete")}>
            {t.remove(dead)}
          </Button>
        )}
      </BulkBar>
      {doing === "retry" && <RetryDialog deliveries={deliveries} onClose={close} />}
      {doing === "delete" && <DeleteDialog deliveries={deliveries} onClose={close} />}
    </>
  );
}

interface DialogProps {
  readonly deliveries: readonly Delivery[];
  readonly onClose: (done: readonly Delivery[] | null) => void;
}

function RetryDialog({ deliveries, onClose }: DialogProps) {
  const t = useTexts(texts);
  const [sendsDeliveredAgain, setSendsDeliveredAgain] = useState(false);
  const related = useRelated(deliveries);
  const parts = useParts((id) => related?.endpoints.get(id)?.url ?? id);
  const plan: Plan<Delivery> | null = related && planRetry(deliveries, related, { sendsDeliveredAgain });
  return (
    <BulkDialog
      title={t.retryTitle}
      action={t.retryNow}
      plan={plan}
      describe={t.retried}
      parts={parts}
      options={
        deliveries.some(({ state }) => state === "success") && (
          <Tick
            label={t.again}
            hint={t.againHint}
            checked={sendsDeliveredAgain}
            onChange={(event) => setSendsDeliveredAgain(event.target.checked)}
          />
        )
      }
      act={({ id }) => api.deliveries.retry({ delivery: id })}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ deliveries, onClose }: DialogProps) {
  const t = useTexts(texts);
  const parts = useParts((id) => id);
  return (
    <BulkDialog
      title={t.removeTitle}
      action={t.removeNow}
      isDangerous
      plan={planDelete(deliveries)}
      describe={t.removed}
      parts={parts}
      act={({ id }) => api.deliveries.delete({ delivery: id })}
      onClose={onClose}
    />
  );
}

function useParts(nameOfEndpoint: (id: string) => string) {
  const t = useTexts(texts);
  return [
    { title: t.tenants, nameOf: ({ tenant }: Delivery) => tenant },
    { title: t.endpoints, nameOf: ({ endpoint_id }: Delivery) => nameOfEndpoint(endpoint_id) },
    { title: t.types, nameOf: ({ event_type }: Delivery) => event_type },
  ];
}

/** The endpoints and tenants of the selected deliveries; null until loaded. */
function useRelated(deliveries: readonly Delivery[]): Related | null {
  const tenantOf = new Map(deliveries.map(({ endpoint_id, tenant }) => [endpoint_id, tenant]));
  const endpointIds = [...tenantOf.keys()];
  const tenantIds = [...new Set(tenantOf.values())];
  const endpoints = useQueries({
    queries: endpointIds.map((id) => ({
      queryKey: ["bulk-endpoint", id],
      queryFn: () => orNone(api.endpoints.get({ tenant: tenantOf.get(id) as string, endpoint: id })),
      staleTime: 0,
    })),
  });
  const tenants = useQueries({
    queries: tenantIds.map((id) => ({
      queryKey: ["bulk-tenant", id],
      queryFn: () => orNone(api.tenants.get({ tenant: id })),
      staleTime: 0,
    })),
  });
  if ([...endpoints, ...tenants].some(({ isFetching, isPending }) => isPending && isFetching)) return null;
  return { endpoints: known(endpointIds, endpoints), tenants: known(tenantIds, tenants) };
}

/** Returns null for 404. */
async function orNone<Thing>(asked: Promise<Thing>): Promise<Thing | null> {
  try {
    return await asked;
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

/** Leaves out what failed to load: the server decides when the action runs. */
function known<Thing>(
  ids: readonly string[],
  answers: readonly { readonly data: Thing | undefined }[],
): ReadonlyMap<string, Thing> {
  const found = new Map<string, Thing>();
  for (const [index, id] of ids.entries()) {
    const thing = answers[index]?.data;
    if (thing !== undefined) found.set(id, thing);
  }
  return found;
}
