// Retries or deletes the deliveries that are chosen.
import type { Delivery } from "@posthorn/client";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { api, isStatus } from "../../api/client.ts";
import { useKeys } from "../../app/keyboard.tsx";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { type Plan, planDelete, planRetry, type Surroundings } from "../../format/bulk-plan.ts";
import type { Selection } from "../list/data-table.tsx";
import { Button } from "../ui/button.tsx";
import { Tick } from "../ui/field.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { unchoose } from "./selection.ts";

const texts = defineTexts({
  en: {
    retry: (count: number) => `Retry ${count} …`,
    retryTitle: "Retry what is chosen",
    retryNow: "Retry them",
    retried: (count: number) =>
      count === 1
        ? "1 delivery will be sent now, with a fresh budget of attempts."
        : `${count} deliveries will be sent now, each with a fresh budget of attempts.`,
    again: "Send what was delivered already once more",
    againHint: "The receiver gets it twice, with the same event id.",
    remove: (count: number) => `Delete ${count} …`,
    removeTitle: "Delete what is chosen",
    removeNow: "Delete them",
    removed: (count: number) =>
      `${count === 1 ? "1 dead letter" : `${count} dead letters`} will be gone for good: nobody can retry or replay them any more. Their events stay.`,
    tenants: "Tenants",
    endpoints: "Endpoints",
    types: "Events",
  },
  de: {
    retry: (count: number) => `${count} neu versuchen …`,
    retryTitle: "Auswahl neu versuchen",
    retryNow: "Neu versuchen",
    retried: (count: number) =>
      count === 1
        ? "1 Zustellung wird jetzt gesendet, mit allen Versuchen von vorn."
        : `${count} Zustellungen werden jetzt gesendet, jede mit allen Versuchen von vorn.`,
    again: "Schon Zugestelltes noch einmal senden",
    againHint: "Der Empfänger bekommt es zweimal, mit derselben Ereignis-Id.",
    remove: (count: number) => `${count} löschen …`,
    removeTitle: "Auswahl löschen",
    removeNow: "Löschen",
    removed: (count: number) =>
      `${count === 1 ? "1 Zustellung ist" : `${count} Zustellungen sind`} dann für immer weg: Niemand kann sie mehr neu versuchen oder wiederholen. Ihre Ereignisse bleiben.`,
    tenants: "Mandanten",
    endpoints: "Endpunkte",
    types: "Ereignisse",
  },
});

export function DeliveryBulk({ selection }: { readonly selection: Selection<Delivery> }) {
  const t = useTexts(texts);
  const [doing, setDoing] = useState<"retry" | "delete" | null>(null);
  const deliveries = [...selection.chosen.values()];
  const dead = deliveries.filter(({ state }) => state === "dead").length;
  const close = (done: readonly Delivery[] | null) => {
    setDoing(null);
    unchoose(selection, done);
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
  const around = useSurroundings(deliveries);
  const parts = useParts((id) => around?.endpoints.get(id)?.url ?? id);
  const plan: Plan<Delivery> | null = around && planRetry(deliveries, around, { sendsDeliveredAgain });
  return (
    <BulkDialog
      title={t.retryTitle}
      action={t.retryNow}
      plan={plan}
      says={t.retried}
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
      says={t.removed}
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

/** The endpoints and tenants of what is chosen, as they are now; null until all were asked for. */
function useSurroundings(deliveries: readonly Delivery[]): Surroundings | null {
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

/** Null: there is none. */
async function orNone<Thing>(asked: Promise<Thing>): Promise<Thing | null> {
  try {
    return await asked;
  } catch (error) {
    if (isStatus(error, 404)) return null;
    throw error;
  }
}

/** What could not be found out is left out: the server says it when it is tried. */
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
